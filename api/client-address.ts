import type { IncomingMessage } from 'node:http'
import express from 'express'

/**
 * The networks of routers. The address that the last router saw is the client's: no other client can choose its address
 * by a header.
 */
export const routerNetworks = ['loopback', 'linklocal', 'uniquelocal']

const isRouter = express().set('trust proxy', routerNetworks).get('trust proxy fn') as (
  address: string | undefined,
  index: number,
) => boolean

/** The client's address of a request that Express does not handle, as its `request.ip`. */
export function clientAddress({ socket, headers }: IncomingMessage): string | undefined {
  const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',').filter(Boolean)
  const nearestFirst = [socket.remoteAddress, ...forwarded.map((address) => address.trim()).toReversed()]
  return nearestFirst.find((address, index) => !isRouter(address, index)) ?? nearestFirst.at(-1)
}

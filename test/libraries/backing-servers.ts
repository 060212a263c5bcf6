import { once } from 'node:events'
import { createRequire } from 'node:module'
import type { AddressInfo, Server } from 'node:net'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '../../cli/postgres/embedded-postgres.ts'
import { startRedis } from '../support/redis.ts'

/** Addresses of servers on this machine that a library may ask. */
export interface Addresses {
  /** The server of `server.ts`. */
  url: string
  postgres?: string
  redis?: string
  /** A mail server, which accepts every message. */
  smtp?: string
}

/** The package of the mail server, with its exact version. */
export const mailServerPackage = { 'smtp-server': '3.21.6' }

/** The part of `smtp-server` that is used. */
interface MailServer {
  SMTPServer: new (options: object) => { server: Server; listen(port: number, host: string): void; close(): void }
}

/**
 * Starts a PostgreSQL, a Redis and a mail server of their own, which the platform does not use.
 *
 * @param folder in which the mail server is installed
 * @param parts stops them
 */
export async function openBackingServers(
  folder: string,
  parts: AsyncDisposableStack,
): Promise<Required<Omit<Addresses, 'url'>>> {
  const postgres = await startEmbeddedPostgres({ directory: join(folder, 'postgres'), temporary: true, log: () => {} })
  parts.defer(() => postgres.stop())
  const redis = await startRedis()
  parts.defer(() => redis.stop())
  return { postgres: postgres.url, redis: redis.url, smtp: await openMailServer(folder, parts) }
}

async function openMailServer(folder: string, parts: AsyncDisposableStack): Promise<string> {
  const { SMTPServer } = createRequire(join(folder, 'package.json'))('smtp-server') as MailServer
  // No public authority vouches for its certificate, so that it has none.
  const mailServer = new SMTPServer({ disabledCommands: ['STARTTLS'], authOptional: true })
  mailServer.listen(0, '127.0.0.1')
  parts.defer(() => mailServer.close())
  await once(mailServer.server, 'listening')
  return `smtp://127.0.0.1:${(mailServer.server.address() as AddressInfo).port}`
}

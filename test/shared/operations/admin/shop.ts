import { Client } from '@botpress/client'
import { expect } from 'vitest'
import type { Answer, Platform } from '../../../support/platform.ts'

/** An integration that can be told to fail by what is configured. */
const code = `
export async function register({ ctx }) {
  if (ctx.configuration.token === 'wrong') throw new Error('the shop does not know the token')
}
export async function unregister({ ctx }) {
  if (ctx.configuration.token === 'sticky') throw new Error('the shop does not let go')
}
export const actions = { sell: () => ({}) }`

const schema = {
  type: 'object',
  properties: { token: { type: 'string' }, currency: { type: 'string', default: 'EUR' } },
  required: ['token'],
}
const account = { schema: { type: 'object', properties: { user: { type: 'string' } }, required: ['user'] } }

/** A valid configuration of the integration. */
export const configuration = { token: 'right', currency: 'EUR' }

/** Integrations and their installations on a platform, by its administrator. */
export function openShop({ url, token, workspaceId, ask, context }: Platform) {
  const client = new Client({ apiUrl: url, token, workspaceId })
  let names = 0
  return {
    client,

    /** Creates an integration, of a name of its own unless one is given. */
    async createIntegration(given: object = {}) {
      const name = `shop-${names++}`
      const definition = { configuration: { schema }, configurations: { account } }
      return (await client.createIntegration({ name, version: '1.0.0', code, ...definition, ...given })).integration
    },

    update(botId: string, integrations: object, headers?: Record<string, string>): Promise<Answer> {
      return ask('PUT', `/v1/admin/bots/${botId}`, { integrations }, headers)
    },

    /** The installations after a change that is expected to be made. */
    async install(botId: string, integrations: object): Promise<Answer['body']> {
      const { status, body } = await this.update(botId, integrations)
      expect({ status, body }).toMatchObject({ status: 200 })
      expect((await ask('GET', `/v1/admin/bots/${botId}`)).body).toEqual(body)
      return body.bot.integrations
    },

    /** The calls to a bot's integrations, in order. */
    async asked(botId: string): Promise<string[]> {
      const events = context.db('events').where({ bot_id: botId }).whereNotNull('installation_id')
      return events.orderBy(['created_at', 'id']).pluck('type')
    },
  }
}

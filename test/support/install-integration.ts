import { randomBytes } from 'node:crypto'
import { newId, newWebhookId } from '#shared/ids.ts'
import type { InstallationRow } from '#shared/models/tables.ts'
import { compile } from './compiler.ts'
import type { Platform } from './platform.ts'

/** Stores a native integration of the workspace in the state after its upload. @returns its id */
export async function storeIntegration(platform: Platform, code = 'export function register() {}'): Promise<string> {
  const { native } = await compile(code)
  const id = newId('int')
  await platform.context.db('integrations').insert({
    id,
    workspace_id: platform.workspaceId,
    name: `tool-${randomBytes(6).toString('hex')}`,
    version: '1.0.0',
    definition: {},
    kind: 'native',
    code_id: newId('intver'),
    hash: id,
    source: code,
    script: native.code,
    source_map: native.sourceMap,
  })
  return id
}

/** Stores an installation on a bot, without a registration. */
export async function installIntegration(
  platform: Platform,
  botId: string,
  integrationId: string,
  fields: Partial<InstallationRow> = {},
): Promise<InstallationRow> {
  const [row] = await platform.context
    .db('installations')
    .insert({
      id: newId('int'),
      bot_id: botId,
      integration: 'tool',
      integration_workspace_id: platform.workspaceId,
      alias: 'tool',
      webhook_id: newWebhookId(),
      integration_id: integrationId,
      ...fields,
    })
    .returning('*')
  return row!
}

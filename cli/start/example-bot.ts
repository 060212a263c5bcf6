import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { builtInVersion, webchatIntegration } from '#shared/models/chat-integration.ts'

interface BotAnswer {
  bot: { id: string; integrations: Record<string, { webhookId: string; webhookUrl: string } | undefined> }
}

/** The example bot, as the credentials have it, and the address of its web chat; those of older folders have none. */
interface Example {
  bot: { botId: string; webhookId: string }
  webchatUrl: string | undefined
}

/** Deploys the example bot, unless that of an earlier start still exists. */
export async function deployExample(
  baseUrl: string,
  { token, workspaceId, botId, signal }: { token: string; workspaceId: string; botId?: string; signal: AbortSignal },
): Promise<Example> {
  const bots = `${baseUrl}/v1/admin/bots`
  const headers = {
    authorization: `Bearer ${token}`,
    'x-workspace-id': workspaceId,
    'content-type': 'application/json',
  }

  const earlier = botId ? await fetch(`${bots}/${botId}`, { headers, signal }) : undefined
  if (earlier?.ok) return addressOf((await earlier.json()) as BotAnswer)

  const code = await readFile(join(import.meta.dirname, '..', '..', 'examples', 'echo.js'), 'utf8')
  const { id: integrationId } = builtInVersion(webchatIntegration)
  const webchat = { integrationId, enabled: true, configuration: { botName: 'Echo' } }
  const body = JSON.stringify({ name: 'echo', code, integrations: { webchat } })
  const created = await fetch(bots, { method: 'POST', headers, body, signal })
  if (!created.ok) throw new Error(`The example bot could not be deployed: ${await created.text()}`)
  return addressOf((await created.json()) as BotAnswer)
}

function addressOf({ bot: { id, integrations } }: BotAnswer): Example {
  return {
    bot: { botId: id, webhookId: integrations['chat']?.webhookId ?? '' },
    webchatUrl: integrations[webchatIntegration]?.webhookUrl,
  }
}

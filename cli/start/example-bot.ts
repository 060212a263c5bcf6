import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

interface BotAnswer {
  bot: { id: string; integrations: Record<string, { webhookId: string } | undefined> }
}

/** Deploys the example bot, unless that of an earlier start still exists. */
export async function deployExample(
  baseUrl: string,
  { token, workspaceId, botId, signal }: { token: string; workspaceId: string; botId?: string; signal: AbortSignal },
): Promise<{ botId: string; webhookId: string }> {
  const bots = `${baseUrl}/v1/admin/bots`
  const headers = {
    authorization: `Bearer ${token}`,
    'x-workspace-id': workspaceId,
    'content-type': 'application/json',
  }

  const earlier = botId ? await fetch(`${bots}/${botId}`, { headers, signal }) : undefined
  if (earlier?.ok) return addressOf((await earlier.json()) as BotAnswer)

  const code = await readFile(join(import.meta.dirname, '..', '..', 'examples', 'echo.js'), 'utf8')
  const created = await fetch(bots, { method: 'POST', headers, body: JSON.stringify({ name: 'echo', code }), signal })
  if (!created.ok) throw new Error(`The example bot could not be deployed: ${await created.text()}`)
  return addressOf((await created.json()) as BotAnswer)
}

function addressOf({ bot }: BotAnswer): { botId: string; webhookId: string } {
  return { botId: bot.id, webhookId: bot.integrations['chat']?.webhookId ?? '' }
}

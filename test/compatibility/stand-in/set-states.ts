import type { Connection } from '../../../cli/connection.ts'

/** Sets states of an installation, as its code does at the end of a wizard. */
export async function setStates(
  { profile }: Connection,
  { botId, integrationId: id }: { botId: string; integrationId: string },
  states: Record<string, object>,
): Promise<void> {
  for (const [name, payload] of Object.entries(states)) {
    const response = await fetch(`${profile.url}/v1/chat/states/integration/${id}/${name}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${profile.token}`,
        'x-workspace-id': profile.workspaceId,
        'x-bot-id': botId,
        'x-integration-id': id,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ payload }),
    })
    if (!response.ok) throw new Error(`setState: ${await response.text()}`)
  }
}

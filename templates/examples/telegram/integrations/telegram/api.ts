/** The configuration of the installation. */
export interface Configuration {
  token: string
  apiUrl: string
}

/** Calls a method of Telegram’s Bot API. The address has the token, so it stands in no error. */
export async function call({ token, apiUrl }: Configuration, method: string, parameters: object): Promise<void> {
  const response = await fetch(`${apiUrl}/bot${token}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(parameters),
  })
  const answer = (await response.json().catch(() => ({}))) as { ok?: boolean; description?: string }
  if (!answer.ok) throw new Error(`Telegram refuses ${method}: ${answer.description ?? response.status}`)
}

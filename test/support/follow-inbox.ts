/** Opens a member's live lines of the inbox. `lines` returns those that have come. */
export async function followInbox({ url: platformUrl }: { url: string }, member: Record<string, string>) {
  const abort = new AbortController()
  const url = `${platformUrl}/v1/admin/handovers/follow`
  const response = await fetch(url, { headers: member, signal: abort.signal })
  let text = ''
  const read = async () => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk
  }
  const ended = read().catch(() => {})
  const lines = () =>
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { type: string; conversationId?: string; isTyping?: boolean })
  return { status: response.status, lines, ended, close: () => (abort.abort(), ended) }
}

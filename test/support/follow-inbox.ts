interface FollowedLine {
  type: string
  conversationId?: string
  isTyping?: boolean
}

/** Opens a member's live lines of the inbox. */
export function followInbox(platform: { url: string }, member: Record<string, string>) {
  return followLines(platform, member, '/handovers/follow')
}

/** Opens the lines of an operation of the Admin API. `lines` returns those that have come. */
export async function followLines({ url: platformUrl }: { url: string }, member: Record<string, string>, path: string) {
  const abort = new AbortController()
  const url = `${platformUrl}/v1/admin${path}`
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
      .map((line) => JSON.parse(line) as FollowedLine)
  return { status: response.status, lines, ended, close: () => (abort.abort(), ended) }
}

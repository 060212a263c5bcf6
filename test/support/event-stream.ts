/** A signal that a listener receives. */
export interface Frame {
  type: string
  // Tests assert single fields; the shapes are the subject of the tests.
  // oxlint-disable-next-line typescript/no-explicit-any
  data: any
}

/** An open stream of server-sent events, with the data received over it. */
export interface EventStream {
  response: Response
  /** All that has arrived. */
  text(): string
  /** The data of each frame, unparsed. */
  lines(): string[]
  /** The frames, without pings. */
  frames(): Frame[]
  /** The ids of the frames that have one. */
  ids(): string[]
  /** Resolves when either side has ended the stream. */
  ended: Promise<void>
  /** Closes the connection. */
  close(): Promise<void>
}

/** Listens to a conversation as published clients do, but returns the frames unprocessed. */
export async function listen(
  chatUrl: string,
  key: string,
  conversationId: string,
  { lastEventId }: { lastEventId?: string | undefined } = {},
): Promise<EventStream> {
  const headers = { 'x-user-key': key, ...(lastEventId && { 'last-event-id': lastEventId }) }
  return openStream(`${chatUrl}/conversations/${conversationId}/listen`, headers)
}

/** Opens a stream of server-sent events. */
export async function openStream(url: string, headers: Record<string, string>): Promise<EventStream> {
  const abort = new AbortController()
  const response = await fetch(url, { headers, signal: abort.signal })
  let text = ''
  const read = async () => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk
  }
  const ended = read().catch(() => {})
  const frames = () => [...text.matchAll(/^event: message\n(?:id: (\d+)\n)?data: (.*)\n\n/gm)]
  const lines = () => frames().map(([, , data]) => data!)
  return {
    response,
    text: () => text,
    lines,
    frames: () =>
      lines()
        .filter((line) => line !== 'ping')
        .map((line) => JSON.parse(line) as Frame),
    ids: () => frames().flatMap(([, id]) => (id ? [id] : [])),
    ended,
    async close() {
      abort.abort()
      await ended
    },
  }
}

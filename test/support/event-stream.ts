/** What a listener is told. */
export interface Frame {
  type: string
  // Frames are asserted on field by field; their shapes are what is tested.
  // oxlint-disable-next-line typescript/no-explicit-any
  data: any
}

/** An open stream of server-sent events, and what has come over it. */
export interface EventStream {
  response: Response
  /** The data of each frame, as it came. */
  lines(): string[]
  /** What was told: the frames without the pings. */
  frames(): Frame[]
  /** The ids of the frames that have one. */
  ids(): string[]
  /** Resolves when the stream has ended, from whichever side. */
  ended: Promise<void>
  /** Hangs up. */
  close(): Promise<void>
}

/** Listens to a conversation as published clients do, but that it shows the frames as they come. */
export async function listen(
  chatUrl: string,
  key: string,
  conversationId: string,
  { lastEventId }: { lastEventId?: string | undefined } = {},
): Promise<EventStream> {
  const abort = new AbortController()
  const response = await fetch(`${chatUrl}/conversations/${conversationId}/listen`, {
    headers: { 'x-user-key': key, ...(lastEventId && { 'last-event-id': lastEventId }) },
    signal: abort.signal,
  })
  let text = ''
  const read = async () => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk
  }
  const ended = read().catch(() => {})
  const frames = () => [...text.matchAll(/^event: message\n(?:id: (\d+)\n)?data: (.*)\n\n/gm)]
  const lines = () => frames().map(([, , data]) => data!)
  return {
    response,
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

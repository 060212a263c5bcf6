import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** The network between one process and one server, whose failures can be simulated. */
export interface Link extends AsyncDisposable {
  /** The port at which the process reaches the server. */
  port: number
  /** Ends all connections, and refuses further ones until `mend`. */
  cut(): void
  /** Holds all data back without an error at either end, and delivers it after `mend`. */
  silence(): void
  /** Delivers all data to the server and none back; `mend` ends these connections. */
  dropResponses(): void
  /** Refuses further connections until `mend`; the open ones stay. */
  refuse(): void
  mend(): void
}

/**
 * Opens a link to a server of this machine.
 *
 * @param target returns the port of the server, which may change with a restart
 */
export async function openLink(target: () => number): Promise<Link> {
  /** Each end of each connection, mapped to the other one. */
  const ends = new Map<Socket, Socket>()
  const nears = new Set<Socket>()
  let state: 'whole' | 'cut' | 'refusing' | 'silent' | 'deaf' = 'whole'
  const server = createServer((near) => {
    near.on('error', () => {})
    if (state === 'cut' || state === 'refusing') return void near.resetAndDestroy()
    const far = connect(target(), '127.0.0.1')
    far.on('error', () => {})
    join(near, far)
    join(far, near)
    nears.add(near)
    near.once('close', () => nears.delete(near))
    if (state === 'deaf') dropResponsesTo(near)
  })

  function join(one: Socket, other: Socket): void {
    one.setNoDelay(true)
    ends.set(one, other)
    if (state !== 'silent') one.pipe(other)
    // However one end closes, the other one gets a reset.
    one.once('close', () => {
      ends.delete(one)
      other.resetAndDestroy()
    })
  }

  function dropResponsesTo(near: Socket): void {
    ends.get(near)?.unpipe(near).resume()
  }

  function reset(): void {
    for (const near of nears) near.resetAndDestroy()
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      state = 'cut'
      reset()
    },
    refuse() {
      state = 'refusing'
    },
    silence() {
      state = 'silent'
      for (const [one, other] of ends) one.unpipe(other).pause()
    },
    dropResponses() {
      state = 'deaf'
      for (const near of nears) dropResponsesTo(near)
    },
    mend() {
      if (state === 'deaf') reset()
      if (state === 'silent') for (const [one, other] of ends) one.pipe(other)
      state = 'whole'
    },
    async [Symbol.asyncDispose]() {
      state = 'cut'
      reset()
      server.close()
      await once(server, 'close')
    },
  }
}

/**
 * Opens a link to the server of a URL.
 *
 * @returns the link, and the URL at which the server is reached by way of it
 */
export async function openLinkTo(url: string): Promise<{ link: Link; url: string }> {
  const address = new URL(url)
  const target = Number(address.port)
  const link = await openLink(() => target)
  address.port = String(link.port)
  return { link, url: address.href }
}

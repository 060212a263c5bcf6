import type { CallSite } from './call-site.ts'
import type { Compute } from './computing.ts'
import type { Connecting, Fetched, NextPart } from './fetches.ts'
import { freeze, indexIn, NativeTypeError, record, sliceText } from './primordials.ts'
import { follow, followed, hold, never, type KernelRun } from './run.ts'
import type { Stream } from './streams.ts'

/** The kernel's functions for the prelude. */
export interface Platform {
  readonly environment: Readonly<Record<string, string>>
  /** 32 random bytes in hexadecimal. */
  readonly seed: string
  /** A name for the run whose turn it is, for use with `call`; empty outside of runs. */
  token(): string
  /**
   * Makes a call to the host; `HostCall` and `HostReply` are JSON texts.
   *
   * @param token the run that makes the call; anything but a token stands for the run whose turn it is
   */
  call(token: string, request: string, site: CallSite): Promise<string>
  /**
   * Keeps the run from ending while a call of it is being prepared, with `token` as in `call`. The returned function ends
   * that; the limits of the run end it in any case.
   */
  hold(token: string): () => void
  /** Opens the stream in which a reply to a call comes, by the name in the reply. */
  openReply(token: string, name: string): Stream
  /**
   * Makes an outbound request, with `token` as in `call`. `request` is a `FetchRequest` as JSON; `nextPart` gives the parts of
   * its `content`.
   */
  fetch(token: string, request: string, site: CallSite, nextPart?: NextPart): Fetching
  /**
   * Opens a connection, with `token` as in `call`. `request` is a `FetchRequest` as JSON. The run does not wait for what the
   * server sends: its end ends the connection.
   */
  connect(token: string, request: string, site: CallSite, connecting: Connecting): Fetching
  compute: Compute
}

/** A request that is in flight or queued. */
export interface Fetching {
  answer: Promise<Fetched>
  /** Cancels the request. The answer is meaningless afterwards. */
  cancel(): void
}

/**
 * The prelude's `install`: it defines globals, and returns the modules that it provides, if any, each by a function that
 * makes it on first use. `require` finds the modules of all preludes.
 */
export type Prelude = (platform: Platform, require: Require) => Record<string, () => unknown> | undefined

export type Require = (name: unknown) => unknown

export interface PlatformOptions {
  environment: Record<string, string>
  seed: string
  /** The runs in flight, by id. */
  runs: Record<string, KernelRun>
  current(): KernelRun | undefined
  compute: Compute
}

const tokenStart = 'run/'

/**
 * Code that waits for a promise of another run continues in the turn of that run, so the current turn does not identify
 * the run that makes a request. A client of the SDK is made at the start of a run and keeps the token of that moment.
 */
export function createPlatform({ environment, seed, runs, current, compute }: PlatformOptions): Platform {
  const runOf = (token: string): KernelRun | undefined =>
    indexIn(token, tokenStart) === 0 ? runs[sliceText(token, tokenStart.length)] : current()

  const begin = (
    token: string,
    make: (run: KernelRun, setBegun: (fetching: Fetching) => Fetching) => Promise<Fetched>,
  ): Fetching => {
    const run = runOf(token)
    if (run === undefined) {
      if (indexIn(token, tokenStart) === 0) return record({ answer: never(), cancel() {} })
      throw atLoad()
    }
    let begun: Fetching | undefined
    const answer = follow(run, async () => make(run, (fetching) => (begun = fetching)))
    return record({ answer, cancel: () => begun?.cancel() })
  }

  return freeze(
    record({
      environment,
      seed,
      compute,
      token() {
        const run = current()
        return run === undefined ? '' : `${tokenStart}${run.id}`
      },
      call(token: string, request: string, site: CallSite): Promise<string> {
        const run = runOf(token)
        if (run !== undefined) return follow(run, () => run.hostCalls.makeNow(request, site))
        if (indexIn(token, tokenStart) === 0) return never()
        throw atLoad()
      },
      hold(token: string): () => void {
        const run = runOf(token)
        return run === undefined ? () => {} : hold(run)
      },
      openReply(token: string, name: string): Stream {
        const run = runOf(token)
        if (run === undefined) throw atLoad()
        return followed(run, run.inbound.open(name))
      },
      fetch: (token: string, request: string, site: CallSite, nextPart?: NextPart): Fetching =>
        begin(token, async (run, setBegun) => {
          const fetched = await setBegun(run.fetches.begin(request, site, nextPart)).answer
          if (fetched.stream !== undefined) fetched.stream = followed(run, fetched.stream)
          return fetched
        }),
      connect: (token: string, request: string, site: CallSite, connecting: Connecting): Fetching =>
        begin(token, (run, setBegun) => setBegun(run.fetches.connect(request, site, connecting)).answer),
    }),
  )
}

function atLoad(): Error {
  return new NativeTypeError(
    'The platform cannot be called while the module loads: call it in a hook, action or handler',
  )
}

/**
 * The frames that a sandbox process may send, a row for each: its fields, its quota, and its handler. After an escape the
 * process sends any bytes, so each frame is checked field by field, and a handler that returns false marks a frame as
 * useless: many of those end the process.
 */

import type { FrameProcess } from './frame-process.ts'
import { readFailure, reasonCharacters } from './read-failure.ts'
import type { RunHandle, RunServices } from './run-handle.ts'

type FieldTypes = { string: string; number: number }
type Fields = Readonly<Record<string, keyof FieldTypes>>
type Values<F extends Fields> = { -readonly [Name in keyof F]: FieldTypes[F[Name]] }

/** @returns false when the frame changed nothing */
type Handle<Subject, F extends Fields> = (subject: Subject, frame: Values<F>, process: FrameProcess) => boolean | void

/** A frame about the process as a whole. */
function ofProcess<const F extends Fields>(
  fields: F,
  handle: (process: FrameProcess, frame: Values<F>) => boolean | void,
) {
  return { fields, isPosted: false, handle }
}

/** A frame about a run. When the run is not in flight, the frame is late or forged. */
function ofRun<const F extends Fields>(fields: F, handle: Handle<RunHandle, F>, isPosted = false) {
  return {
    fields: { run: 'string', ...fields } as const,
    isPosted,
    handle(process: FrameProcess, frame: Values<F> & { run: string }) {
      const run = process.find(frame.run)
      return run !== undefined && handle(run, frame, process)
    },
  }
}

/** A request of code to the worker. Its kernel posts it; `quota` decides whether the run may send it. */
function ofCode<const F extends Fields>(
  fields: F,
  { quota, handle }: { quota?: (services: RunServices, frame: Values<F>) => boolean; handle: Handle<RunServices, F> },
) {
  const receive: Handle<RunHandle, F> = ({ services }, frame, process) => {
    if (services === undefined || quota?.(services, frame) === false) return false
    return handle(services, frame, process)
  }
  return ofRun(fields, receive, true)
}

export const frames = {
  /** The process can take runs. */
  ready: ofProcess({}, (process) => process.started()),
  /**
   * The answer to a heartbeat: resident memory in bytes, and how many runs the process has begun since it started, in
   * warm isolates, in the prewarmed one, and in new ones.
   */
  pong: ofProcess({ rss: 'number', warm: 'number', spare: 'number', cold: 'number' }, (process, frame) =>
    process.answered(frame),
  ),
  /** The process needs the code of a bundle. */
  code: ofProcess({ bundle: 'string' }, (process, { bundle }) => process.sendCode(bundle)),
  /** The process has kept the code of a bundle, and needs its environment. */
  environment: ofProcess({ bundle: 'string' }, (process, { bundle }) => process.sendEnvironment(bundle)),
  /**
   * A thread cannot be stopped: only the end of the process frees it. It runs code of this bundle, in a turn that took
   * `turn` milliseconds until the request to stop; the process has waited `waited` milliseconds since.
   */
  stuck: ofProcess({ bundle: 'string', reason: 'string', turn: 'number', waited: 'number' }, (process, frame) =>
    process.stuck(frame),
  ),
  /** A turn of this run takes long: should the process die now, this run is the suspect. */
  long: ofRun({}, (run, _frame, { attribution }) => attribution.long(run)),
  /** That turn is over. The run may be over too. */
  over: ofProcess({ run: 'string' }, ({ attribution }, { run }) => attribution.over(run)),
  call: ofCode(
    { call: 'string', request: 'string' },
    {
      quota: ({ calls }, { call, request }) => isName(call) && calls.begin(request),
      handle: ({ id, calls }, { call, request }, process) =>
        process.respond(id, async () => {
          const reply = await calls.answer(call, request)
          if (typeof reply !== 'string') return { type: 'interrupt', run: id, reason: reply.interrupted }
          return { type: 'reply', run: id, call, reply }
        }),
    },
  ),
  fetch: ofCode(
    { fetch: 'string', request: 'string' },
    {
      quota: ({ fetches }, { fetch, request }) => isName(fetch) && fetches.begin(fetch, request),
      handle: ({ id, fetches }, { fetch }, process) =>
        process.respond(id, async () => {
          const texts = await fetches.make(fetch, (parts) => process.wantParts(id, fetch, parts))
          return { type: 'fetched', run: id, fetch, ...texts }
        }),
    },
  ),
  /**
   * A part of the body of a request, one of those that the worker wants. `state` is `part`, `last` (without data) or
   * `failed`, where the code cannot make the next one.
   */
  bodyPart: ofCode(
    { fetch: 'string', state: 'string', data: 'string', isBase64: 'number' },
    { handle: ({ fetches }, frame) => fetches.receivePart(frame) },
  ),
  /** The code no longer waits for this request. */
  abortFetch: ofCode(
    { fetch: 'string' },
    { quota: ({ budget }) => budget.takeAbort(), handle: ({ fetches }, { fetch }) => fetches.abort(fetch) },
  ),
  /**
   * Permits `parts` more parts of a stream; at most `creditParts` are in flight. `form` is `text` where texts are
   * preferred, else `bytes`; the first such frame decides.
   */
  pull: ofCode(
    { stream: 'string', form: 'string', parts: 'number' },
    {
      handle: ({ id, streams }, frame, process) =>
        streams.pull(frame, (stream, part) => process.sendPart(id, stream, part)),
    },
  ),
  /** The code reads no more of this stream. */
  cancel: ofCode({ stream: 'string' }, { handle: ({ streams }, { stream }) => streams.cancel(stream) }),
  log: ofRun(
    { level: 'string', message: 'string', timestamp: 'string' },
    ({ services }, line) => services?.log(line) ?? false,
  ),
  /**
   * `hooks` is JSON, or empty: how many milliseconds the run took, and the active functions, as pairs of a name and the
   * milliseconds since the start of the run.
   */
  done: ofRun({ result: 'string', state: 'string', cpu: 'number', hooks: 'string' }, (run, frame, process) => {
    process.ended(run)
    run.done(frame.result, frame.state, frame.cpu, frame.hooks)
  }),
  failed: ofRun(
    {
      reason: 'string',
      name: 'string',
      message: 'string',
      stack: 'string',
      hook: 'string',
      cpu: 'number',
      hooks: 'string',
    },
    (run, frame, process) => {
      process.ended(run)
      run.fail(readFailure(frame), frame.cpu, frame.hooks)
    },
  ),
  interrupted: ofRun({ reason: 'string', cpu: 'number' }, (run, { reason, cpu }, process) => {
    process.ended(run)
    run.interrupt(reason.slice(0, reasonCharacters), cpu)
  }),
}

type Frames = typeof frames
type FrameType = keyof Frames

export type FromProcess = {
  [Type in FrameType]: { type: Type } & Values<Frames[Type]['fields']>
}[FrameType]

interface Row {
  /** Without `run`, in order. */
  posted: string[] | undefined
  fields: [name: string, type: string][]
  handle: (process: FrameProcess, frame: FromProcess) => boolean | void
}

const rows = new Map(
  Object.entries(frames).map(([type, { fields, isPosted, handle }]): [string, Row] => {
    const [, ...posted] = Object.keys(fields)
    return [
      type,
      { fields: Object.entries(fields), posted: isPosted ? posted : undefined, handle: handle as Row['handle'] },
    ]
  }),
)

/** @returns whether the frame was of any use; undefined when it is no frame */
export function receiveFrame(process: FrameProcess, value: unknown): boolean | undefined {
  if (typeof value !== 'object' || value === null || !('type' in value)) return undefined
  const row = rows.get(value.type as string)
  const isFrame = row?.fields.every(([name, type]) => typeof (value as Record<string, unknown>)[name] === type)
  return isFrame ? row!.handle(process, value as FromProcess) !== false : undefined
}

/**
 * The frame of what a kernel posts for the worker: its texts are the fields. Of more than two, the second text holds all
 * but the first, with spaces between them.
 *
 * @returns undefined when the worker does not receive such a frame from kernels
 */
export function postedFrame(type: string, run: string, first: string, second: string): FromProcess | undefined {
  const row = rows.get(type)
  if (row?.posted === undefined) return undefined
  const texts = row.posted.length > 2 ? [first, ...second.split(' ')] : [first, second]
  const frame: Record<string, string | number> = { type, run }
  for (const [index, name] of row.posted.entries()) {
    const text = texts[index] ?? ''
    frame[name] = row.fields[index + 1]![1] === 'number' ? Number(text) || 0 : text
  }
  return frame as FromProcess
}

/** Kernels give short names to their calls and requests. */
function isName(text: string): boolean {
  return text.length <= 32
}

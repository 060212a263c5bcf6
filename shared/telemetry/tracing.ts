import type { IncomingHttpHeaders } from 'node:http'
import type { QueueOptions } from 'bullmq'

/**
 * Traces, of a request through its job to the code that it runs, and what that asks for. Off unless an address for them
 * is configured, and then nothing of OpenTelemetry is loaded: what is here is all that the rest of the code knows.
 */

export type Attributes = Record<string, string | number | boolean | undefined>

export interface OpenSpan {
  set(attributes: Attributes): void
  fail(error: unknown): void
  /** Adds a span within this one that is over. Times are milliseconds since 1970. */
  past(name: string, start: number, end: number, attributes: Attributes): void
}

export interface RequestSpan {
  run<Result>(work: () => Result): Result
  end(name: string, attributes: Attributes, isFailed: boolean): void
}

export type SpanKind = 'internal' | 'client'

/** What traces when anything does. */
export interface Tracing extends AsyncDisposable {
  request(name: string, headers: IncomingHttpHeaders, attributes: Attributes): RequestSpan
  span<Result>(
    name: string,
    attributes: Attributes,
    work: (span: OpenSpan) => Promise<Result>,
    kind: SpanKind,
  ): Promise<Result>
  telemetry: QueueOptions['telemetry']
  traceId(): string | undefined
  /** Keeps the span in hand: what it gives does something within it later, wherever that is called from. */
  keep(): <Result>(work: () => Result) => Result
  /** Gives the span in hand another name: it has turned out what it is. */
  rename(name: string): void
}

let tracing: Tracing | undefined

/** Sets what traces in this process from now on; undefined: nothing does. */
export function setTracing(next: Tracing | undefined): void {
  tracing = next
}

/** What is traced, for those who need more than a span; undefined when nothing is. */
export function openedTracing(): Tracing | undefined {
  return tracing
}

/** What BullMQ's queues and workers are to be opened with. */
export function queueTelemetry(): Pick<QueueOptions, 'telemetry'> {
  return tracing?.telemetry ? { telemetry: tracing.telemetry } : {}
}

/** Does something in a span of its own. The span that `work` is given is undefined when nothing is traced. */
export function traced<Result>(
  name: string,
  attributes: Attributes,
  work: (span: OpenSpan | undefined) => Promise<Result>,
  kind: SpanKind = 'internal',
): Promise<Result> {
  return tracing ? tracing.span(name, attributes, work, kind) : work(undefined)
}

import type { IncomingHttpHeaders } from 'node:http'
import type { QueueOptions } from 'bullmq'

/**
 * Traces follow a request through its job to the code that it runs and the calls of that code. Tracing is disabled
 * unless an endpoint is configured, and OpenTelemetry is then not loaded: all other modules depend on this file only.
 */

export type Attributes = Record<string, string | number | boolean | undefined>

export interface OpenSpan {
  set(attributes: Attributes): void
  fail(error: unknown): void
  /** Adds a child span that has already ended. Times are milliseconds since 1970. */
  past(name: string, start: number, end: number, attributes: Attributes): void
}

export interface RequestSpan {
  run<Result>(work: () => Result): Result
  end(name: string, attributes: Attributes, isFailed: boolean): void
}

export type SpanKind = 'internal' | 'client'

/** The tracing back end. */
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
  /** Captures the active span: work passed to the returned function runs within it, from wherever it is called. */
  keep(): <Result>(work: () => Result) => Result
  /** Renames the active span, once its subject is known. */
  rename(name: string): void
}

let tracing: Tracing | undefined

/** Sets the process's tracing back end; undefined disables tracing. */
export function setTracing(next: Tracing | undefined): void {
  tracing = next
}

/** The tracing back end, for callers that need more than a span; undefined when tracing is disabled. */
export function openedTracing(): Tracing | undefined {
  return tracing
}

/** The tracing options for BullMQ's queues and workers. */
export function queueTelemetry(): Pick<QueueOptions, 'telemetry'> {
  return tracing?.telemetry ? { telemetry: tracing.telemetry } : {}
}

/** Runs work in a span of its own. `work` receives undefined when tracing is disabled. */
export function traced<Result>(
  name: string,
  attributes: Attributes,
  work: (span: OpenSpan | undefined) => Promise<Result>,
  kind: SpanKind = 'internal',
): Promise<Result> {
  return tracing ? tracing.span(name, attributes, work, kind) : work(undefined)
}

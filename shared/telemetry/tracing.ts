import type { IncomingHttpHeaders } from 'node:http'
import type { QueueOptions } from 'bullmq'
import type { Config } from '../config/config.ts'
import type { Logger } from './logger.ts'

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

/**
 * Begins to trace in this process, if that is configured.
 *
 * @param service what the process is called in traces, where OTEL_SERVICE_NAME does not say
 * @returns disposing sends what has not been sent, and ends it
 */
export async function startTracing(config: Config, service: string, log: Logger): Promise<AsyncDisposable> {
  if (!config.tracing) return { async [Symbol.asyncDispose]() {} }
  const { openTracing } = await import('./open-telemetry.ts')
  const open = openTracing(config.tracing, service, log)
  tracing = open
  return {
    async [Symbol.asyncDispose]() {
      tracing = undefined
      await open[Symbol.asyncDispose]()
    },
  }
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

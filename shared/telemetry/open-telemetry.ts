import { hostname } from 'node:os'
import {
  context,
  diag,
  DiagLogLevel,
  propagation,
  ROOT_CONTEXT,
  SpanKind as Kind,
  SpanStatusCode,
  trace,
  type Span,
} from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { ATTR_SERVICE_NAME } from '@opentelemetry/semantic-conventions'
import { BullMQOtel } from 'bullmq-otel'
import type { Config } from '../config/config.ts'
import type { Logger } from './logger.ts'
import { samplerOf } from './sampler.ts'
import type { Attributes, OpenSpan, Tracing } from './tracing.ts'

/** Minimum time between log lines about export failures: an unavailable collector would cause one per batch. */
const logIntervalMilliseconds = 60_000
const shutdownMilliseconds = 3000

/** Traces with OpenTelemetry, and exports spans by OTLP over HTTP. Registers global providers. */
export function openTracing(settings: NonNullable<Config['tracing']>, service: string, log: Logger): Tracing {
  logDiagnostics(log)
  const resource = defaultResource()
    .merge(resourceFromAttributes({ [ATTR_SERVICE_NAME]: `isobot-${service}`, 'host.name': hostname() }))
    .merge(detectResources({ detectors: [envDetector] }))
  const provider = new TracerProvider({
    resource,
    sampler: samplerOf(settings),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter(),
        scheduledDelayMillis: settings.exportMilliseconds,
      }),
    ],
  })
  trace.setGlobalTracerProvider(provider)
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  const tracer = provider.getTracer('isobot')

  return {
    telemetry: new BullMQOtel({ tracerName: 'bullmq' }),
    traceId: () => trace.getSpan(context.active())?.spanContext().traceId,

    keep() {
      const within = context.active()
      return (work) => context.with(within, work)
    },
    rename: (name) => void trace.getSpan(context.active())?.updateName(name),

    request(name, headers, attributes) {
      const from = propagation.extract(ROOT_CONTEXT, headers)
      const span = tracer.startSpan(name, { kind: Kind.SERVER, attributes: attributes }, from)
      const within = trace.setSpan(from, span)
      return {
        run: (work) => context.with(within, work),
        end(finalName, more, isFailed) {
          span.updateName(finalName)
          span.setAttributes(more)
          if (isFailed) span.setStatus({ code: SpanStatusCode.ERROR })
          span.end()
        },
      }
    },

    async span(name, attributes, work, kind) {
      const options = {
        kind: kind === 'client' ? Kind.CLIENT : Kind.INTERNAL,
        attributes: attributes,
      }
      const span = tracer.startSpan(name, options)
      const within = trace.setSpan(context.active(), span)
      try {
        return await context.with(within, () => work(toOpen(span)))
      } catch (error) {
        fail(span, error)
        throw error
      } finally {
        span.end()
      }
    },

    async [Symbol.asyncDispose]() {
      const flushed = provider.shutdown().catch(() => {})
      const overdue = new Promise<void>((resolve) => setTimeout(resolve, shutdownMilliseconds).unref())
      await Promise.race([flushed, overdue])
      for (const api of [trace, context, propagation, diag]) api.disable()
    },
  }

  function toOpen(span: Span): OpenSpan {
    return {
      set: (attributes: Attributes) => void span.setAttributes(attributes),
      fail: (error) => fail(span, error),
      past(name, start, end, attributes) {
        const options = { startTime: start, attributes: attributes }
        tracer.startSpan(name, options, trace.setSpan(context.active(), span)).end(end)
      },
    }
  }
}

/** Error messages may contain text of a bot or a user, so only the name and the code are recorded. */
function fail(span: Span, error: unknown): void {
  const { name = 'Error', code } = error instanceof Error ? (error as Error & { code?: unknown }) : {}
  span.setAttributes({ 'error.type': typeof code === 'string' ? code : name })
  span.setStatus({ code: SpanStatusCode.ERROR })
}

function ignore(): void {}

function logDiagnostics(log: Logger): void {
  let loggedAt = -Infinity
  const logProblem = (message: string) => {
    if (performance.now() - loggedAt < logIntervalMilliseconds) return
    loggedAt = performance.now()
    log.warn({ problem: message.slice(0, 500) }, 'Sending traces failed: check OTEL_EXPORTER_OTLP_ENDPOINT')
  }
  diag.setLogger(
    { error: logProblem, warn: logProblem, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
}

import type { Receiver } from './receiver.ts'

/** A span: an operation, its duration and its parent. */
export interface Span {
  name: string
  traceId: string
  spanId: string
  parentSpanId?: string
  service: string
  attributes: Record<string, unknown>
}

/** The spans that a collector received, by OTLP in JSON. */
export function spansIn({ received }: Receiver): Span[] {
  return received
    .filter(({ path }) => path === '/v1/traces')
    .flatMap(({ body }) => JSON.parse(body).resourceSpans)
    .flatMap(({ resource, scopeSpans }) => {
      const service = values(resource.attributes)['service.name'] as string
      return scopeSpans.flatMap(({ spans }: { spans: (Span & { attributes: [] })[] }) =>
        spans.map((span) => ({ ...span, service, attributes: values(span.attributes) })),
      )
    })
}

function values(given: { key: string; value: object }[]): Record<string, unknown> {
  return Object.fromEntries(given.map(({ key, value }) => [key, Object.values(value)[0] as unknown]))
}

/** The names of a span and its ancestors, up to the outermost received one. */
export function pathTo(span: Span, spans: Span[]): string[] {
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId)
  return parent ? [...pathTo(parent, spans), span.name] : [span.name]
}

export function isWithin(path: string[], outer: string[]): boolean {
  return outer.every((name, index) => path[index] === name)
}

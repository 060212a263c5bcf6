import type { PlatformSecret } from '../secrets.ts'
import type { Infer } from '../schema.ts'
import { passwordsIn } from './passwords-in.ts'

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

/** The samplers by their names in OpenTelemetry. */
export type Sampler = (typeof samplers)[number]

/** Settings of metrics and traces. */
export interface TelemetrySettings {
  /** Unset: metrics are disabled. */
  metrics?: {
    /** The bearer of this token may read the metrics. */
    token: string
  }
  /** The port on which a worker serves its health and metrics; absent: it opens no port. 0: any port. */
  workerPort?: number
  /** Unset: tracing is disabled. The exporter reads the endpoint and its headers from the environment itself. */
  tracing?: {
    sampler: Sampler
    /** The part of the traces that is kept, for a sampler by ratio. */
    ratio: number
    exportMilliseconds: number
  }
}

/** The variables of these settings. Those of OpenTelemetry have its names. */
export const telemetryVariables = {
  METRICS_TOKEN: { type: 'string', minLength: 16, maxLength: 200, pattern: '^[\\x21-\\x7e]+$' },
  METRICS_PORT: { type: 'integer', minimum: 0, maximum: 65_535 },
  OTEL_SDK_DISABLED: { type: 'boolean', default: false },
  OTEL_EXPORTER_OTLP_ENDPOINT: { type: 'string', pattern: '^https?://' },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: { type: 'string', pattern: '^https?://' },
  OTEL_TRACES_SAMPLER: { type: 'string', enum: samplers, default: 'parentbased_always_on' },
  OTEL_TRACES_SAMPLER_ARG: { type: 'number', minimum: 0, maximum: 1, default: 1 },
  OTEL_BSP_SCHEDULE_DELAY: { type: 'integer', minimum: 10, maximum: 600_000, default: 5000 },
} as const

export const telemetryRemedies: Record<string, string> = {
  METRICS_TOKEN: 'set it to 16 to 200 printable characters without spaces, for instance from: openssl rand -hex 32',
  METRICS_PORT: 'set it to the port on which a worker serves its health and metrics, for instance 9090',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'set it to where spans go by OTLP over HTTP, for instance http://collector:4318',
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'set it to where spans go, for instance http://collector:4318/v1/traces',
}

const schema = { type: 'object', required: [], properties: telemetryVariables } as const

type Given = Partial<Infer<typeof schema>>

export function readTelemetry(given: Given): TelemetrySettings {
  const { METRICS_TOKEN: token, METRICS_PORT: workerPort } = given
  const endpoint = given.OTEL_EXPORTER_OTLP_ENDPOINT ?? given.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
  return {
    ...(token !== undefined && { metrics: { token } }),
    ...(workerPort !== undefined && { workerPort }),
    ...(endpoint !== undefined &&
      given.OTEL_SDK_DISABLED !== true && {
        tracing: {
          sampler: given.OTEL_TRACES_SAMPLER ?? telemetryVariables.OTEL_TRACES_SAMPLER.default,
          ratio: given.OTEL_TRACES_SAMPLER_ARG ?? telemetryVariables.OTEL_TRACES_SAMPLER_ARG.default,
          exportMilliseconds: given.OTEL_BSP_SCHEDULE_DELAY ?? telemetryVariables.OTEL_BSP_SCHEDULE_DELAY.default,
        },
      }),
  }
}

/** The values of a configuration that must not be logged. */
export function secretsOf(config: Secrets): (string | undefined)[] {
  const { secret, adminToken, metrics, database, redis, embeddings, models } = config
  return [
    secret.current,
    secret.accepted,
    adminToken,
    metrics?.token,
    embeddings?.key,
    ...models.providers.map(({ key }) => key),
    ...passwordsIn(database.url),
    ...passwordsIn(redis?.url),
  ]
}

interface Secrets extends TelemetrySettings {
  secret: PlatformSecret
  adminToken?: string
  database: { url: string }
  redis?: { url: string }
  embeddings?: { key?: string }
  models: { providers: { key?: string }[] }
}

import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'

/**
 * Metrics of this process for Prometheus. No label has a value that users, bots or code choose: the number of series is
 * bounded by this file and the list of operations.
 *
 * An observation takes 0.2 to 0.7 µs, and all observations for a message and its reply some 8 µs of its 2,800.
 */
export interface Metrics {
  registry: Registry
  /**
   * HTTP requests; `operation` is for instance `chat.createMessage`, and `none` for requests that match no operation.
   */
  requests: Histogram<'operation' | 'status'>
  streams: Gauge
  tunnels: Gauge
  /**
   * Requests and calls that wait now, because their bot or workspace has a share of something: a `connection` to the database, a
   * slot of `slow_work`, a `worker` to answer, or `admission` while this process is busy.
   */
  tenantWaits: Gauge<'for'>
  /** Those that were refused: `too_many` waited already, or it waited `too_long`. */
  tenantRefusals: Counter<'for' | 'reason'>
  /** Clients that were disconnected because they read nothing: an `answer`, a `stream`, or one of all `streams` together. */
  unreadDisconnects: Counter<'of'>
  /** Connections that an api refused because it may open no more files. */
  connectionRefusals: Counter
  events: Counter<'outcome'>
  queueSeconds: Histogram
  handlingSeconds: Histogram
  /** Runs of bot code by outcome: `done`, `interrupted`, or the limit or error that ended them. */
  runs: Counter<'outcome'>
  processorSeconds: Counter
  /** Calls of the platform by bot code. */
  hostCalls: Histogram<'operation' | 'status'>
  outboundRequests: Counter<'outcome'>
  /** Open connections of `net` and `tls`. */
  outboundConnections: Gauge
  outboundConnectionBytes: Counter<'direction'>
  /** Requests to webhooks of chats and inboxes, by outcome: `accepted` or `failed`, after which they are repeated. */
  webhookRequests: Counter<'webhook' | 'outcome'>
  /** Deliveries that webhooks did not accept in any attempt. */
  webhookDrops: Counter<'webhook'>
  jobs: Counter<'job' | 'outcome'>
  /** Contents that were sent to upload addresses: `stored`, `refused` or `failed`. */
  uploads: Counter<'outcome'>
  uploadBytes: Counter
  /** Attempts to index a file: `completed`, `refused`, `overtaken`, `interrupted` or `failed`. */
  indexings: Counter<'outcome'>
  indexingSeconds: Histogram
  /**
   * Requests to the endpoint of embeddings, by `kind` (`passages`, `question`) and outcome: `answered`, `refused` or
   * `failed`.
   */
  embeddingSeconds: Histogram<'kind' | 'outcome'>
  embeddedTexts: Counter<'kind'>
  embeddingTokens: Counter
  /** Calls of language models, by outcome: `answered`, or the kind of the failure. */
  modelSeconds: Histogram<'provider' | 'outcome'>
  /** From the call of a model to the first text of its streamed answer. */
  modelFirstToken: Histogram<'provider'>
  /** Streamed answers that ended within: a repeated run pays again. */
  modelStreamsCut: Counter<'provider'>
  modelTokens: Counter<'provider' | 'kind'>
  /** In US dollars, by the table of prices. */
  modelCost: Counter<'provider'>
  /** Calls that a budget refused: that of the bot or that of the workspace. */
  modelBudgetRefusals: Counter<'budget'>
  /**
   * Calls of tools by clients of the Model Context Protocol: `completed`, `failed` (the action) or `refused` (its name or its
   * input).
   */
  mcpToolCalls: Counter<'outcome'>
  /** Sign-ins with the OpenID provider that came back from its pages: `signed-in`, or the reason why there is no session. */
  signIns: Counter<'outcome'>
  /** Rows that the retention of bots has deleted: messages, events, conversations and users. */
  retentionDeletes: Counter<'kind'>
  /** Erasures and exports of people that have ended, by outcome: `completed` or `failed`. */
  dataRequests: Counter<'kind' | 'outcome'>
  requeues: Counter
  locksLost: Counter
  isolateStarts: Counter<'kind'>
  sandboxKills: Counter<'cause'>
  /** Adds a gauge that is read at each scrape. It replaces a gauge of the same name. */
  gauge<Label extends string>(options: GaugeOptions<Label>): void
}

/** The metrics of waits for a share. */
export type ShareMetrics = Pick<Metrics, 'tenantWaits' | 'tenantRefusals'>

export interface GaugeOptions<Label extends string> {
  name: string
  help: string
  labels?: readonly Label[]
  /** The present value for each combination of labels. When this rejects, the gauge has no value. */
  read(): Reading<Label>[] | Promise<Reading<Label>[]>
}

export type Reading<Label extends string> = [labels: Partial<Record<Label, string>>, value: number]

/** From one millisecond, the time to store a message, to the longest time that a request may wait. */
const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
/** Bots may wait for other services for minutes. */
const handlingBuckets = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
const queueBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800]

/** For a label whose values are many, or not known here. */
const anyValue: readonly string[] = []

/** All combinations of the values of labels; none where a label has `anyValue`. */
function combinationsOf<Label extends string>(labels: Readonly<Record<Label, readonly string[]>>) {
  return (Object.entries(labels) as [Label, readonly string[]][]).reduce<Partial<Record<Label, string>>[]>(
    (combinations, [label, values]) =>
      combinations.flatMap((combination) => values.map((value) => ({ ...combination, [label]: value }))),
    [{}],
  )
}

/** @param isRead whether metrics are enabled; otherwise the metrics of Node itself are not collected */
export function openMetrics(isRead: boolean): Metrics {
  const registry = new Registry()
  if (isRead) collectDefaultMetrics({ register: registry })
  const registers = [registry]
  // Prometheus takes no increase from the appearance of a series: the first count of one that begins at 1 raises no alert.
  const counter = <Label extends string = never>(
    name: string,
    help: string,
    labels: Readonly<Record<Label, readonly string[]>> = {} as Record<Label, readonly string[]>,
  ) => {
    const labelNames = Object.keys(labels) as Label[]
    const made = new Counter<Label>({ name: `isobot_${name}`, help, labelNames, registers })
    for (const values of combinationsOf(labels)) made.inc(values, 0)
    return made
  }
  const histogram = <Label extends string = never>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: Label[] = [],
  ) => new Histogram<Label>({ name: `isobot_${name}`, help, buckets, labelNames, registers })

  return {
    registry,
    requests: histogram('http_request_duration_seconds', 'Time to answer HTTP requests', requestBuckets, [
      'operation',
      'status',
    ]),
    streams: new Gauge({ name: 'isobot_streams_open', help: 'Open streams of conversations', registers }),
    tunnels: new Gauge({ name: 'isobot_tunnels_open', help: 'Open tunnels to developers’ machines', registers }),
    tenantWaits: new Gauge({
      name: 'isobot_tenant_waits',
      help: 'Requests and calls that wait because their bot or workspace uses its share, by what they wait for',
      labelNames: ['for'],
      registers,
    }),
    tenantRefusals: counter('tenant_refusals_total', 'Requests and calls refused instead of such a wait, by reason', {
      for: ['connection', 'slow_work', 'worker', 'admission'],
      reason: ['too_many', 'too_long'],
    }),
    unreadDisconnects: counter('unread_disconnects_total', 'Clients disconnected because they read nothing', {
      of: ['answer', 'stream', 'streams'],
    }),
    connectionRefusals: counter(
      'connection_refusals_total',
      'Connections that were refused at the limit of open files',
    ),
    events: counter('events_total', 'Handled events, by outcome', {
      outcome: ['processed', 'ignored', 'failed', 'retried', 'interrupted'],
    }),
    queueSeconds: histogram('event_queue_seconds', 'Time events waited until their first run', queueBuckets),
    handlingSeconds: histogram('event_handling_seconds', 'Time from the claim of an event to its end', handlingBuckets),
    runs: counter('runs_total', 'Runs of bot code, by outcome', { outcome: anyValue }),
    processorSeconds: counter('runs_processor_seconds_total', 'Processor time that bot code used'),
    hostCalls: histogram('host_call_duration_seconds', 'Time to answer calls of bot code', requestBuckets, [
      'operation',
      'status',
    ]),
    outboundRequests: counter('outbound_requests_total', 'Outbound requests of bot code, by outcome', {
      outcome: anyValue,
    }),
    outboundConnections: new Gauge({
      name: 'isobot_outbound_connections_open',
      help: 'Open connections of bot code',
      registers,
    }),
    outboundConnectionBytes: counter(
      'outbound_connection_bytes_total',
      'Bytes that connections of bot code have sent and received',
      { direction: ['sent', 'received'] },
    ),
    webhookRequests: counter('webhook_requests_total', 'Requests to webhooks, by webhook (chat or inbox) and outcome', {
      webhook: ['chat', 'inbox'],
      outcome: ['accepted', 'failed'],
    }),
    webhookDrops: counter('webhook_drops_total', 'Deliveries that webhooks did not accept in any attempt', {
      webhook: ['chat', 'inbox'],
    }),
    jobs: counter('jobs_total', 'Jobs taken from the queue, by outcome', { job: anyValue, outcome: anyValue }),
    uploads: counter('file_uploads_total', 'Uploads of contents, by outcome', {
      outcome: ['stored', 'refused', 'failed'],
    }),
    uploadBytes: counter('file_upload_bytes_total', 'Bytes of the contents that were stored'),
    indexings: counter('file_indexings_total', 'Attempts to index a file, by outcome', {
      outcome: ['completed', 'refused', 'overtaken', 'interrupted', 'failed'],
    }),
    indexingSeconds: histogram('file_indexing_seconds', 'Time of an attempt to index a file', handlingBuckets),
    embeddingSeconds: histogram('embedding_request_duration_seconds', 'Time of requests for vectors', requestBuckets, [
      'kind',
      'outcome',
    ]),
    embeddedTexts: counter('embedding_texts_total', 'Texts that got a vector', { kind: ['passages', 'question'] }),
    embeddingTokens: counter('embedding_tokens_total', 'Tokens of these texts, as the endpoint counts them'),
    modelSeconds: histogram('model_call_duration_seconds', 'Time of calls of language models', handlingBuckets, [
      'provider',
      'outcome',
    ]),
    modelFirstToken: histogram(
      'model_first_token_seconds',
      'Time to the first text of streamed answers',
      handlingBuckets,
      ['provider'],
    ),
    modelStreamsCut: counter('model_streams_cut_total', 'Streamed answers of language models that ended within', {
      provider: anyValue,
    }),
    modelTokens: counter('model_tokens_total', 'Tokens of language models, by kind: input or output', {
      provider: anyValue,
      kind: anyValue,
    }),
    modelCost: counter('model_cost_dollars_total', 'Estimated cost of language models in US dollars', {
      provider: anyValue,
    }),
    modelBudgetRefusals: counter('model_budget_refusals_total', 'Calls of language models that a budget refused', {
      budget: ['bot', 'workspace'],
    }),
    mcpToolCalls: counter('mcp_tool_calls_total', 'Calls of tools by clients of the Model Context Protocol', {
      outcome: ['completed', 'failed', 'refused'],
    }),
    signIns: counter('sign_ins_total', 'Sign-ins with the OpenID provider, by outcome', { outcome: anyValue }),
    retentionDeletes: counter('retention_deleted_rows_total', 'Rows that the retention of bots has deleted, by kind', {
      kind: ['messages', 'events', 'conversations', 'users'],
    }),
    dataRequests: counter('data_requests_total', 'Ended erasures and exports of people, by kind and outcome', {
      kind: ['erasure', 'export'],
      outcome: ['completed', 'failed'],
    }),
    requeues: counter('job_put_backs_total', 'Jobs requeued because their bot used its full share of the worker'),
    locksLost: counter('job_locks_lost_total', 'Jobs taken over from workers that did not renew the lock in time'),
    isolateStarts: counter('isolate_starts_total', 'Runs by their isolate: warm, prewarmed or cold', {
      kind: ['warm', 'spare', 'cold'],
    }),
    sandboxKills: counter('sandbox_kills_total', 'Sandbox processes that were killed or died, by cause', {
      cause: ['ended', 'start', 'heartbeat', 'deadline', 'stuck', 'memory', 'protocol'],
    }),
    gauge: (options) => addGauge(registry, options),
  }
}

function addGauge<Label extends string>(
  registry: Registry,
  { name, help, labels = [], read }: GaugeOptions<Label>,
): void {
  registry.removeSingleMetric(`isobot_${name}`)
  const gauge = new Gauge<Label>({
    name: `isobot_${name}`,
    help,
    labelNames: labels,
    registers: [],
    async collect() {
      this.reset()
      try {
        for (const [values, value] of await read()) this.set(values, value)
      } catch {
        // The dependency's monitor has logged the reason; here the value is absent.
        if (labels.length === 0) this.remove()
      }
    },
  })
  registry.registerMetric(gauge)
}

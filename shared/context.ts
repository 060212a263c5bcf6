import type { Config } from './config/config.ts'
import { openDependencies, type Dependencies } from './connectivity/dependencies.ts'
import { openEmbeddings, type Embeddings } from './embeddings/embeddings.ts'
import { openInstallations, type Installations } from './installation-cache.ts'
import { openGateway, type Gateway } from './llm/gateway.ts'
import type { Logger } from './telemetry/logger.ts'
import { openMetrics, type Metrics } from './telemetry/metrics.ts'
import { openQueue, type WakeQueue } from './queue/queue.ts'
import { openSignals, type Signals } from './signals/signals.ts'
import { openDatabase, type Database } from './store/database.ts'
import { modelSlots } from './store/model-slots.ts'
import { openBacklogLimit, type BacklogLimit } from './queue/backlog-limit.ts'

/** The parts that every operation may use, opened once per process. */
export interface Context {
  config: Config
  log: Logger
  metrics: Metrics
  dependencies: Dependencies
  db: Database
  queue: WakeQueue
  signals: Signals
  installations: Installations
  waiting: BacklogLimit
  /** Absent without an endpoint of embeddings. */
  embeddings?: Embeddings
  models: Gateway
  /** Counts the bytes of a large answer before it is made; see `Request`. Present in requests that count them. */
  holdAnswer?: (bytes: number) => void
  /** A signal that is aborted when the caller of the request has gone. Absent at entry points that cannot see it. */
  callerGone?: (() => AbortSignal) | undefined
  /**
   * The event whose outcome a request with an idempotency key waits for. It is set before the event is stored; an earlier
   * request with the key may have stored it.
   */
  awaited?: { eventId?: string }
  /**
   * Requests an address that the caller names, within the grants and limits of the caller's own requests. Absent at entry points
   * whose callers have none.
   *
   * @throws ApiError `Runtime` when there is no successful answer
   */
  fetchForCaller?: ((url: string) => Promise<FetchedBytes>) | undefined
}

/** The body of an answer. */
export interface FetchedBytes {
  bytes: Uint8Array
  /** The media type of the answer, without parameters. */
  mediaType: string | undefined
}

/** Opens the parts in order of dependency. Disposing closes them in reverse order. */
export function openContext(config: Config, log: Logger): Context & AsyncDisposable {
  const parts = new AsyncDisposableStack()
  const metrics = openMetrics(config.metrics !== undefined)
  const dependencies = parts.use(openDependencies(config, log))
  const db = parts.adopt(openDatabase(config.database, dependencies.database.connections, metrics), (open) =>
    open.destroy(),
  )
  const signals = parts.adopt(openSignals(dependencies, db, log), (open) => open.close())
  const installations = openInstallations(config, log, db, signals)
  const queue = parts.adopt(openQueue({ dependencies, config, log }), (open) => open.close())
  const waiting = openBacklogLimit(config.waitingEvents)
  return {
    config,
    log,
    metrics,
    dependencies,
    db,
    queue,
    signals,
    installations,
    waiting,
    ...(config.embeddings && { embeddings: openEmbeddings(config.embeddings, metrics) }),
    models: openGateway(config.models, { slotRows: modelSlots(db), metrics, log }),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  }
}

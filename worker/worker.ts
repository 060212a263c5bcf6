import type { Context } from '#shared/context.ts'
import { hookNames } from '#shared/models/bot-code.ts'
import { openJobWorker, type JobWorkerState } from '#shared/queue/job-worker.ts'
import { outsideOfScopes } from '#shared/telemetry/log-scope.ts'
import type { AnyJob } from '#shared/queue/queue.ts'
import { registerBySchedule } from '#shared/integrations/registration.ts'
import { botOperations } from '#shared/router.ts'
import { openSandbox } from '#sandbox/open-sandbox.ts'
import { openActivity } from './metrics/activity.ts'
import { openBundles } from './code/bundles.ts'
import { startDataRequests } from './periodic/data-requests.ts'
import { startScheduler } from './periodic/scheduler.ts'
import { exposeWorkerMetrics, watchOf } from './metrics/metrics.ts'
import { FairSlots, inboxOf, indexingOf, inspectionsOf, isBot, scriptsOf, tableJobsOf } from './slots/fair-slots.ts'
import { prepareFetch } from './outbound/fetch.ts'
import { Turns } from './code/turns.ts'
import { openMailboxes } from './mailboxes.ts'
import { openOutbound } from './outbound/open-outbound.ts'
import type { Resolve } from './outbound/resolver.ts'
import { startWorkerHeartbeat } from './periodic/worker-heartbeat.ts'
import { startFileSweep } from './periodic/file-sweep.ts'
import { startRetention } from './periodic/retention.ts'
import { startRegisterTick } from './periodic/register-tick.ts'
import { openSourceMaps } from './code/source-maps.ts'
import { startSweep } from './periodic/sweep.ts'
import { callInboxWebhook } from './tasks/call-inbox-webhook.ts'
import { callWebhook } from './tasks/call-webhook.ts'
import { drainMailbox } from './tasks/drain-mailbox.ts'
import { embedFile } from './tasks/embed-file.ts'
import { indexFile } from './tasks/index-file.ts'
import { inspectCode } from './tasks/inspect-code.ts'
import { checkScripts } from './tasks/check-scripts.ts'
import { runScript } from './tasks/run-script.ts'
import { recomputeRows } from './tasks/recompute-rows.ts'
import { runTableJob } from './tasks/run-table-job.ts'
import { openCodeSuspensions } from './execution/code-suspensions.ts'
import { SlotQueue } from './slots/slot-queue.ts'
import type { WorkerContext } from './context.ts'

/**
 * The share of the shutdown time after which a stopping worker closes the sandbox. This interrupts the runs that have not
 * ended, whose jobs are requeued for another worker; the rest of the time is for that.
 */
const interruptShare = 0.7

/** A running worker. */
export interface Worker extends AsyncDisposable {
  /** Whether it gets jobs from its queue. */
  queueState(): JobWorkerState
}

/**
 * Starts to take jobs, as soon as the queue can be opened. Disposing takes no more, lets jobs in flight end or requeues them, and closes the sandbox.
 *
 * @param overrides `resolve` replaces the name servers for outbound requests
 */
export async function startWorker(context: Context, overrides: { resolve?: Resolve } = {}): Promise<Worker> {
  const { config, log } = context
  const parts = new AsyncDisposableStack()
  const suspensions = parts.adopt(openCodeSuspensions(context), (open) => open.settled())
  const sandbox = parts.adopt(
    await openSandbox({
      processes: config.sandbox.processes,
      memoryMegabytes: config.sandbox.totalMegabytes,
      profile: config.sandbox.profile,
      require: config.sandbox.require,
      compile: config.sandbox.compile,
      extract: config.sandbox.extract,
      operations: botOperations.map(({ name, method, path, streamsLines }) => ({
        name,
        method,
        path,
        ...(streamsLines === true && { streamsLines }),
      })),
      hooks: hookNames,
      // A sandbox process outlives the event in whose log scope it starts.
      log: (level, message, details) => outsideOfScopes(() => log[level](details ?? {}, message)),
      onSuspension: (suspension) => suspensions.keep(suspension),
      watch: watchOf(context.metrics),
    }),
    (open) => open.close(),
  )
  const stopping = new AbortController()
  const outbound = parts.adopt(openOutbound(config, log, overrides), (open) => open.close())
  const worker: WorkerContext = {
    ...context,
    sandbox,
    bundles: openBundles(context),
    sourceMaps: openSourceMaps(sandbox.compiler),
    mailboxes: openMailboxes(context.db),
    agentTurns: new Turns(),
    activity: parts.adopt(openActivity(context), (open) => open.close()),
    outbound,
    openFetch: prepareFetch({ ...context, outbound }),
    stopping: stopping.signal,
  }
  const periodic = [
    startSweep(context),
    startRetention(context),
    startFileSweep(context),
    startRegisterTick(context),
    startScheduler(context),
    startDataRequests(context),
  ]
  const { concurrency } = config.worker
  const slots = new FairSlots(concurrency)
  exposeWorkerMetrics(context, sandbox, { slots, turns: worker.agentTurns })
  periodic.push(startWorkerHeartbeat(context, () => slots.inUse))
  // All at once: where PostgreSQL gives no connection, each waits for one in vain, for seconds.
  parts.defer(async () => void (await Promise.all(periodic.map((stop) => stop()))))
  const slotQueue = new SlotQueue(slots, concurrency, (id) => {
    if (isBot(id)) worker.activity.putBack(id)
  })
  const jobs = parts.adopt(
    openJobWorker(context, config.worker, (job) => runInSlot(worker, slotQueue, job)),
    async (open) => {
      slotQueue.close()
      const interruptTimer = setTimeout(() => {
        stopping.abort()
        void sandbox.close()
      }, config.shutdownMilliseconds * interruptShare)
      await open.close()
      clearTimeout(interruptTimer)
    },
  )
  return { queueState: () => jobs.state(), [Symbol.asyncDispose]: () => parts.disposeAsync() }
}

/** @throws RequeueError when the job is beyond its bot's share and got no slot while it waited */
async function runInSlot(worker: WorkerContext, slotQueue: SlotQueue, job: AnyJob): Promise<void> {
  // It runs no user code, so it needs no slot.
  if (job.name === 'retry') return work(worker, job)
  using _ = await slotQueue.enter(slotsOf(job))
  await work(worker, job)
}

/** The id under which a job shares the slots. */
function slotsOf(job: Exclude<AnyJob, { name: 'retry' }>): string {
  if (job.name === 'inspection') return inspectionsOf(job.data.workspaceId)
  if (job.name === 'inbox-webhook') return inboxOf(job.data.mailbox)
  if (job.name === 'script' || job.name === 'script-check') return scriptsOf(job.data.workspaceId)
  if (job.name === 'table-job' || job.name === 'recompute-rows') return tableJobsOf(job.data.botId)
  return job.name === 'index-file' || job.name === 'embed-file' ? indexingOf(job.data.botId) : job.data.botId
}

async function work(worker: WorkerContext, job: AnyJob): Promise<void> {
  switch (job.name) {
    case 'message':
    case 'event':
    case 'register':
      return drainMailbox(worker, job.data)
    case 'webhook':
      return callWebhook(worker, job.data.mailbox)
    case 'inbox-webhook':
      return callInboxWebhook(worker, job.data.mailbox)
    case 'configure-integration':
      return registerBySchedule(worker, job.data.mailbox)
    case 'retry':
      return worker.queue.wake(job.data.name, job.data.mailbox, job.data.botId)
    case 'index-file':
      return indexFile(worker, job.data.mailbox)
    case 'table-job':
      return runTableJob(worker, job.data.mailbox)
    case 'embed-file':
      return embedFile(worker, job.data.mailbox)
    case 'recompute-rows':
      return recomputeRows(worker, job.data)
    case 'inspection':
      return inspectCode(worker, job.data, job.attemptsMade)
    case 'script':
      return runScript(worker, job.data, job.attemptsMade)
    case 'script-check':
      return checkScripts(worker, job.data, job.attemptsMade)
  }
}

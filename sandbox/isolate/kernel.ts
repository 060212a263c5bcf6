/**
 * The kernel runs first in every isolate and stays in it. It evaluates the bundle, runs its hooks and actions, and is
 * the bundle's only way out of the isolate, in text. Bot code shares the kernel's heap but reaches none of its objects:
 * bot code gets plain functions and data, and the kernel calls no built-in that bot code could have replaced. (`await`
 * itself reads the constructor of promises: a bot that replaces that, and `then` as well, breaks its own isolate.)
 */

import type { BundleKind, ClientOperation, Limits, Task } from '../protocol/contract.ts'
import { createModules, evaluateModule, flowsOf, isolationOf, type BotExports } from './bot-module.ts'
import { runCall } from './call.ts'
import { createComputing } from './computing.ts'
import { createClients } from './client.ts'
import { createConsole } from './console.ts'
import { declarationOf } from './declaration.ts'
import { describeError, reasonOf } from './errors.ts'
import { createFetches } from './fetches.ts'
import { indexFlows, type Flows } from './flows/definition.ts'
import { defineGlobals, queueMicrotask } from './globals.ts'
import { createHostCalls } from './host-calls.ts'
import { createLogger, createWriteLog } from './log.ts'
import { resultText, reviveEvent, runAction, runEvent, stateText } from './pipeline.ts'
import type { Pipeline } from './pipeline-parts.ts'
import { createPlatform, type Prelude } from './platform.ts'
import { create, freeze, NativePromise, now, parse, record, toNumber } from './primordials.ts'
import type { KernelRun } from './run.ts'
import type { Post, Shared } from './shared.ts'
import { keepSecret } from './secrets.ts'
import { createStreams } from './streams.ts'
import { definePrepareStackTrace } from './stack.ts'
import { hardenGlobals } from './surface.ts'
import { createTimers } from './timers.ts'

export interface KernelSettings {
  operations: ClientOperation[]
  kind: BundleKind
  environment: Record<string, string>
  /** Random bytes, in hexadecimal. */
  seed: string
}

/**
 * Performs one operation in the isolate and posts the result. Returns the time at which the operation began, in
 * milliseconds since 1970.
 */
export type Dispatch = (operation: string, id: string, first?: Data, ...texts: string[]) => number

/** A text, or the bytes of a part of a stream. */
type Data = string | ArrayBuffer

/**
 * Makes the kernel. The returned function is the only way in, and `post` the only way out. The process writes the results of
 * its computations to `memory`. `settings` is a `KernelSettings` as JSON; `preludes` define the globals and modules of the
 * bundle. A script evaluates the bundle by calling the global `defineBundle`, which works once.
 */
export type Open = (post: Post, memory: SharedArrayBuffer, settings: string, ...preludes: Prelude[]) => Dispatch

export const open: Open = (post, memory, settings, ...preludes) => {
  const { operations, kind, environment, seed } = parse(settings) as KernelSettings
  freeze(environment)
  keepSecret(environment)
  const runs = create(null) as Record<string, KernelRun>
  // The run whose turn it is. Code that waits for a promise of another run of the same bundle continues in the turn of
  // that run.
  let current: KernelRun | undefined
  let bot: BotExports = {}
  let flows: Flows | undefined
  const modules = createModules()
  let isDefined = false
  /** The error because of which the bundle did not load, as text. */
  let refusal: string | undefined

  const write = createWriteLog(post)
  const logsJson = kind === 'sdk' && environment['BP_LOG_FORMAT'] === 'json'
  const makeClient = createClients(operations)
  const timers = createTimers(() => current, post)
  const computing = createComputing(post, memory)
  definePrepareStackTrace()
  hardenGlobals((units) => post('allocated', '', `${units}`, ''))
  defineGlobals({
    ...timers.globals,
    queueMicrotask,
    console: createConsole(() => current, write, logsJson),
    // The global object of workers, where packages for browsers look for its classes. The prelude of Node removes it.
    self: globalThis,
  })

  const platform = createPlatform({ environment, seed, runs, current: () => current, compute: computing.compute })
  for (let index = 0; index < preludes.length; index += 1) modules.add(preludes[index]!(platform, modules.require))

  defineGlobals({
    defineBundle: (wrapper: unknown) => {
      delete (globalThis as Record<string, unknown>)['defineBundle']
      // The bundle may have kept a reference to this function.
      if (isDefined) return
      isDefined = true
      computing.permit()
      try {
        const evaluated = evaluateModule(wrapper, modules)
        bot = evaluated.exports
        flows = kind === 'sdk' ? undefined : indexFlows(evaluated.flows, flowsOf(bot))
        if (isolationOf(bot) === 'event') post('isolated', '', '', '')
      } catch (error) {
        refusal = describeError(error)
        post('exhausted', '', '', '')
      }
    },
  })

  const inspect = (id: string) => {
    if (refusal !== undefined) return post('failed', id, 'error', refusal)
    try {
      const declaration = declarationOf(bot, kind, flows)
      if (declaration.accepted) post('done', id, declaration.text, '{}')
      else post('failed', id, 'error', declaration.error)
    } catch (error) {
      // Reading the exports may throw at any time.
      post('failed', id, 'error', describeError(error))
    }
  }

  const start = (id: string, taskText: string, limitsText: string, within: string, atFirst: string) => {
    if (refusal !== undefined) return post('failed', id, 'error', refusal)
    const task = parse(taskText) as Task
    const outer = runs[within]
    const limits = outer?.limits ?? (parse(limitsText) as Limits)
    const shared = outer?.shared ?? share(task)
    const inbound = createStreams(id, post)
    const run: KernelRun = record({
      id,
      limits,
      shared,
      hostCalls: createHostCalls({ id, limits, shared }, post),
      fetches: createFetches({ id, limits, shared, inbound }, post),
      inbound,
      streamPrefix: task.streamPrefix,
      environment,
      streams: 0,
      ended: false,
      pendingOperations: 0,
      onQuiet: undefined,
      resume: undefined,
      fault: undefined,
      activeWork: undefined,
      reportedHook: atFirst,
      reportHook: (name) => post('active', id, name, ''),
    })
    runs[id] = run
    current = run
    void perform(run, task)
  }

  const perform = async (run: KernelRun, task: Task): Promise<void> => {
    try {
      const logger = createLogger(run, write)
      const pipeline: Pipeline = {
        run,
        bot,
        flows,
        logger,
        client: makeClient({ run, bot, logger }),
        clientOf: (scope) => makeClient({ run, bot, logger, scope }),
        setTimeout: timers.globals.setTimeout,
      }
      const result = await performTask(pipeline, task)
      while (run.pendingOperations > 0) await quiet(run)
      const text = resultText(result, run.limits.resultCharacters)
      const state = stateText(run.shared.event)
      end(run, 'done', text, state)
    } catch (error) {
      const hook = run.fault?.thrown === error ? run.fault?.name : undefined
      end(run, 'failed', reasonOf(error), describeError(error, hook))
    }
  }

  /**
   * Waits until all operations have settled and the code that waited for them has had the opportunity to begin others.
   */
  const quiet = (run: KernelRun): Promise<void> =>
    new NativePromise((resolve) => {
      run.resume = resolve
      run.onQuiet = () => {
        // Posted once: operations that fail at once could begin and end without a pause.
        run.onQuiet = undefined
        post('quiet', run.id, '', '')
      }
    })

  const end = (run: KernelRun, how: string, first: string, second: string) => {
    if (run.ended) return
    drop(run)
    post(how, run.id, first, second)
  }

  const drop = (run: KernelRun) => {
    run.ended = true
    timers.drop(run)
    run.fetches.disconnect()
    delete runs[run.id]
  }

  const continueRun = (run: KernelRun, operation: string, first: string, second: string, third: string) => {
    current = run
    switch (operation) {
      case 'reply':
        return run.hostCalls.settle(first, second)
      case 'fetched':
        return run.fetches.settle(first, second, third)
      case 'wanted':
        return run.fetches.send(first, toNumber(second))
      case 'quiet':
        return run.resume?.()
      case 'end':
        return drop(run)
      case 'arm':
        return timers.arm(run)
      case 'timer':
        try {
          timers.fire(run)
        } catch (error) {
          write(run, 'error', ['Thrown in a timer:', error])
        }
    }
  }

  const receivePart = (run: KernelRun, data: Data, stream: string, isLast: boolean, failure: string) => {
    current = run
    run.inbound.receive(stream, data, isLast, failure)
  }

  return (operation, id, first = '', second = '', third = '', fourth = '') => {
    const began = now()
    current = undefined
    const run = runs[id]
    if (operation === 'inspect') inspect(id)
    else if (operation === 'start') start(id, first as string, second, third, fourth)
    else if (run !== undefined && operation === 'part') receivePart(run, first, second, third === '1', fourth)
    else if (run !== undefined) continueRun(run, operation, first as string, second, third)
    return began
  }
}

function performTask(pipeline: Pipeline, task: Task): Promise<unknown> {
  switch (task.kind) {
    case 'event':
      return runEvent(pipeline, task)
    case 'action':
      return runAction(pipeline, task)
    case 'call':
      return runCall(pipeline, task)
  }
}

function share(task: Task): Shared {
  const event = reviveEvent(task.kind === 'call' ? {} : task.event)
  return record({
    event,
    hostCalls: 0,
    fetches: 0,
    connections: 0,
    timers: 0,
    logLines: 0,
    logCharacters: 0,
    logIsCut: false,
    hookReports: 0,
  })
}

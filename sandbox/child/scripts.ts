import { createContext, runInContext } from 'node:vm'
import type { ClientOperation, EventTask, Limits } from '../protocol/contract.ts'
import type { Dispatch, Open } from '../isolate/kernel.ts'
import type { Platform, Prelude } from '../isolate/platform.ts'
import { groupNames, groupsFor, type GroupName } from '../prelude/groups.ts'
import { createModules } from '../isolate/bot-module.ts'
import { includesNode, type ScriptName } from '../modules/table.ts'
import type { BundleSource } from '../protocol/protocol.ts'
import { CachedScript } from './cached-script.ts'
import { Computations } from './computations.ts'
import type { Ivm, Transferable } from './isolated-vm.ts'
import { rehearseUse } from './rehearsed-use.ts'

/** The type of the kernel's `Open`, with arguments from outside of the isolate. */
export type OpenKernel = (...given: Transferable[]) => Dispatch

export interface ScriptsOptions {
  ivm: Ivm
  /** The kernel's program. */
  inside: string
  /** The programs of the preludes. */
  groups: Record<GroupName, string>
  operations: ClientOperation[]
}

/** The scripts that isolates run before their bundle: the kernel, and the preludes that the bundle needs. */
export class Scripts {
  readonly kernel: CachedScript<OpenKernel>
  readonly operations: ClientOperation[]
  readonly #groups: Record<GroupName, CachedScript>
  /** The scripts of Node's modules that some bundle has needed. */
  readonly #modules = new Map<ScriptName, CachedScript>()
  readonly #ivm: Ivm

  constructor({ ivm, inside, groups, operations }: ScriptsOptions) {
    this.operations = operations
    this.#ivm = ivm
    this.kernel = new CachedScript(ivm, `(() => { 'use strict'; ${inside}\nreturn inside.open })()`, 'kernel')
    const script = (name: GroupName) =>
      new CachedScript(ivm, `(() => { 'use strict'; ${groups[name]}\nreturn prelude.install })()`, 'prelude')
    this.#groups = Object.fromEntries(groupNames.map((name) => [name, script(name)])) as Record<GroupName, CachedScript>
  }

  /** Rehearses the kernel with a typical event: a bot that makes one call of the platform. */
  async rehearse(): Promise<void> {
    const context = createContext()
    const open = this.kernel.rehearse(context) as Open
    const settings = { operations: this.operations, kind: 'native', environment: {}, seed: '' }
    await new Promise<void>((resolve) => {
      const post = (kind: string, run: string, first: string) => {
        if (kind === 'call') queueMicrotask(() => dispatch('reply', run, first, '{"status":200,"body":{}}'))
        else if (kind === 'done' || kind === 'failed') resolve()
      }
      const dispatch: Dispatch = open(post, new Computations().memory, JSON.stringify(settings))
      runInContext(rehearsedBundle, context)
      dispatch('start', 'rehearsal', JSON.stringify(rehearsedTask), JSON.stringify(rehearsedLimits), '')
    })
    this.kernel.keep()
  }

  addModule(name: ScriptName, program: string): void {
    this.#modules.set(name, new CachedScript(this.#ivm, program, 'prelude'))
  }

  /** The preludes of a bundle, in the order in which they run. Each is rehearsed on first use. */
  for({ kind, code, modules }: Pick<BundleSource, 'kind' | 'code' | 'modules'>): CachedScript[] {
    const groups = groupsFor({ code, isNode: kind === 'sdk' || includesNode(modules) }).map(
      (name) => this.#groups[name],
    )
    const scripts = [...groups, ...modules.flatMap((name) => this.#modules.get(name) ?? [])]
    if (!scripts.every((script) => script.isCached)) rehearseTogether(scripts)
    return scripts
  }
}

const rehearsedBundle = `defineBundle((module, exports) => {
  exports.hooks = { async rehearse({ client }) { if (client.createMessage) await client.createMessage({}) } }
})`

const rehearsedTask: EventTask = { kind: 'event', event: { state: {} }, stages: ['rehearse'], streamPrefix: '' }

const rehearsedLimits: Pick<Limits, 'hostCalls' | 'hostCallsAtOnce' | 'hostCallCharacters' | 'resultCharacters'> = {
  hostCalls: 1,
  hostCallsAtOnce: 1,
  hostCallCharacters: 1000,
  resultCharacters: 1000,
}

/**
 * All scripts share one context, because each uses the definitions of the earlier ones. Its promises settle before
 * `runInContext` returns.
 */
function rehearseTogether(scripts: CachedScript[]): void {
  const globals = { console, setTimeout, clearTimeout, setInterval, clearInterval }
  const context = createContext(globals, { microtaskMode: 'afterEvaluate' })
  runInContext('globalThis.queueMicrotask = (callback) => void Promise.resolve().then(callback)', context)
  const modules = createModules()
  const platform: Platform = {
    environment: {},
    seed: '',
    token: () => '',
    // A promise of the context's own, which settles there.
    call: runInContext(`async () => '{"status":200,"body":{}}'`, context) as Platform['call'],
    hold: () => () => {},
    openReply: () => ({ next: never, cancel() {} }),
    fetch: () => ({ answer: never(), cancel() {} }),
    connect: () => ({ answer: never(), cancel() {} }),
    compute: () => undefined,
  }
  for (const script of scripts) {
    const install = script.rehearse(context) as Prelude
    const provided = install(platform, modules.require)
    modules.add(provided)
    for (const name in provided) modules.require(name)
  }
  rehearseUse(context)
  for (const script of scripts) if (!script.isCached) script.keep()
}

function never(): Promise<never> {
  return new Promise(() => {})
}

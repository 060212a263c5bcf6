import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startChild, type Child, type Exit } from '../../cli/start/children.ts'
import { sandboxesOf } from '../support/sandbox-processes.ts'
import type { Link } from './network.ts'

const repository = join(import.meta.dirname, '..', '..')

export interface MemberOptions {
  kind: 'api' | 'worker'
  /** The folder of its code; by default this repository. */
  checkout?: string
  environment: NodeJS.ProcessEnv
  /** Its links to PostgreSQL and Redis, and its clients' links to it. */
  links: Link[]
}

/** Time until a platform's process manager notices the end of a process. */
const noticeMilliseconds = 300

/** One process of the platform, with a manager that restarts it whenever it ends. */
export class Member {
  readonly kind: 'api' | 'worker'
  readonly links: Link[]
  /** Ends that were not requested. */
  readonly surprises: Exit[] = []

  readonly #environment: NodeJS.ProcessEnv
  readonly #checkout: string
  #child: Child | undefined
  #isEndAsked = false
  #isOver = false
  #managed: Promise<void> = Promise.resolve()

  constructor({ kind, environment, links, checkout = repository }: MemberOptions) {
    this.kind = kind
    this.links = links
    this.#environment = environment
    this.#checkout = checkout
  }

  get isUp(): boolean {
    return this.#child !== undefined
  }

  async start(): Promise<void> {
    const script = join(this.#checkout, this.kind, 'main.js')
    const child = await startChild(this.kind, [process.execPath, script], {
      directory: this.#checkout,
      environment: this.#environment,
    })
    this.#child = child
    this.#isEndAsked = false
    this.#managed = this.#watch(child)
  }

  async #watch(child: Child): Promise<void> {
    const exit = await child.exited
    this.#child = undefined
    if (!this.#isEndAsked) this.surprises.push(exit)
    if (this.#isOver) return
    await pause(noticeMilliseconds)
    if (!this.#isOver) await this.start()
  }

  signal(signal: NodeJS.Signals): void {
    if (signal === 'SIGKILL' || signal === 'SIGTERM') this.#isEndAsked = true
    if (this.#child) process.kill(this.#child.pid, signal)
  }

  /** Kills the worker's sandbox processes, which it has to replace. Returns their number. */
  killSandboxes(): number {
    if (!this.#child) return 0
    const sandboxes = sandboxesOf(this.#child.pid)
    for (const sandbox of sandboxes) process.kill(sandbox, 'SIGKILL')
    return sandboxes.length
  }

  /** Ends the process for good. */
  async stop(): Promise<Exit | undefined> {
    this.#isOver = true
    this.#isEndAsked = true
    const exit = await this.#child?.stop()
    await this.#managed
    return exit
  }
}

import { LRUCache } from 'lru-cache'
import { ownerKey, ownerOf, type Owner } from './crash-history.ts'
import type { RunHandle } from './run-handle.ts'

/** Number of bundles whose owners are remembered; the least recently used are dropped. */
const rememberedBundles = 10_000

/** Attributes a crash of the process to the runs with long turns, or to all runs in it if there are none. */
export class CrashAttribution {
  /** Owners of runs with long turns, by run. A turn may outlast its run, so these are kept apart from the runs. */
  readonly #long = new Map<string, Owner & { runTree: string }>()
  /** Owners by bundle: a thread may be stuck in a bundle whose runs have all ended. */
  readonly #owners = new LRUCache<string, Owner>({ max: rememberedBundles })

  /** Remembers the owner of a run that begins. */
  remember({ bundle }: RunHandle): void {
    this.#owners.set(bundle.id, ownerOf(bundle))
  }

  ownerOfBundle(id: string): Owner | undefined {
    return this.#owners.get(id)
  }

  /** Records that a turn of this run takes long. False when it was recorded before. */
  long(run: RunHandle): boolean {
    const known = this.#long.has(run.id)
    this.#long.set(run.id, { ...ownerOf(run.bundle), runTree: run.runTree })
    return !known
  }

  /** Records the end of a long turn. False when none was recorded. */
  over(run: string): boolean {
    return this.#long.delete(run)
  }

  /** The suspects of a crash, without duplicates. */
  owners(runs: Iterable<RunHandle>): Owner[] {
    const candidates = this.#long.size > 0 ? this.#long.values() : Array.from(runs, ({ bundle }) => ownerOf(bundle))
    return uniqueOwners(candidates)
  }

  /**
   * The run tree that caused a crash: the only one with a long turn, or the only one in the process. Otherwise
   * undefined: a wrong attribution costs an innocent run its event, a missing one costs another crash.
   */
  runTree(runs: Iterable<RunHandle>): string | undefined {
    const long = new Set(Array.from(this.#long.values(), ({ runTree }) => runTree))
    const all = new Set(Array.from(runs, ({ runTree }) => runTree))
    for (const candidates of [long, all]) if (candidates.size === 1) return candidates.values().next().value
    return undefined
  }
}

function uniqueOwners(owners: Iterable<Owner>): Owner[] {
  const byKey = new Map<string, Owner>()
  for (const { botId, codeId, installationId } of owners) {
    const owner = { botId, codeId, ...(installationId !== undefined && { installationId }) }
    byKey.set(ownerKey(owner), owner)
  }
  return [...byKey.values()]
}

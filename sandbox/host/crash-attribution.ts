import { LRUCache } from 'lru-cache'
import { ownerKey, ownerOf, type Owner } from './crash-history.ts'
import type { RunHandle } from './run-handle.ts'

/** Bundles whose owners are remembered, the latest ones. */
const rememberedBundles = 10_000

/** Attributes a crash of the process: to the runs whose turns take long, else to all runs in it. */
export class CrashAttribution {
  /** By run. Of one that has ended the turn may go on, so they are known apart from the runs. */
  readonly #long = new Map<string, Owner & { runTree: string }>()
  /** By bundle: a thread may be stuck in one whose runs are all over. */
  readonly #owners = new LRUCache<string, Owner>({ max: rememberedBundles })

  /** A run begins. */
  remember({ bundle }: RunHandle): void {
    this.#owners.set(bundle.id, ownerOf(bundle))
  }

  ownerOfBundle(id: string): Owner | undefined {
    return this.#owners.get(id)
  }

  /** A turn of this run has begun to take long. False when that was known. */
  long(run: RunHandle): boolean {
    const known = this.#long.has(run.id)
    this.#long.set(run.id, { ...ownerOf(run.bundle), runTree: run.runTree })
    return !known
  }

  /** That turn is over. False when nothing was known of it. */
  over(run: string): boolean {
    return this.#long.delete(run)
  }

  /** Each once. */
  owners(runs: Iterable<RunHandle>): Owner[] {
    const candidates = this.#long.size > 0 ? this.#long.values() : Array.from(runs, ({ bundle }) => ownerOf(bundle))
    return uniqueOwners(candidates)
  }

  /**
   * The run whose doing a crash was: the only one there is, or the only one whose turn was taking long. Otherwise
   * nobody's: blaming an innocent run costs it its event, letting a guilty one go costs another crash.
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

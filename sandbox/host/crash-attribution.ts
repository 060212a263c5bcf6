import { LRUCache } from 'lru-cache'
import { ownerKey, ownerOf, type Owner } from './crash-history.ts'
import type { Handle } from './handle.ts'

/** Bundles whose owners are remembered, the latest ones. */
const rememberedBundles = 10_000

/** Who is to blame should the process die now: whoever has a turn that takes long, else all that run in it. */
export class CrashAttribution {
  /** By run. Of one that has ended the turn may go on, so they are known apart from the jobs. */
  readonly #long = new Map<string, Owner & { runTree: string }>()
  /** By bundle: a thread may be stuck in one whose jobs are all over. */
  readonly #owners = new LRUCache<string, Owner>({ max: rememberedBundles })

  /** A job begins. */
  remember({ bundle }: Handle): void {
    this.#owners.set(bundle.id, ownerOf(bundle))
  }

  ownerOfBundle(id: string): Owner | undefined {
    return this.#owners.get(id)
  }

  /** A turn of this job has begun to take long. False when that was known. */
  long(job: Handle): boolean {
    const known = this.#long.has(job.id)
    this.#long.set(job.id, { ...ownerOf(job.bundle), runTree: job.runTree })
    return !known
  }

  /** That turn is over. False when nothing was known of it. */
  over(run: string): boolean {
    return this.#long.delete(run)
  }

  /** Each once. */
  owners(jobs: Iterable<Handle>): Owner[] {
    const candidates = this.#long.size > 0 ? this.#long.values() : Array.from(jobs, ({ bundle }) => ownerOf(bundle))
    return uniqueOwners(candidates)
  }

  /**
   * The run whose doing a crash was: the only one there is, or the only one whose turn was taking long. Otherwise
   * nobody's: blaming an innocent run costs it its event, letting a guilty one go costs another crash.
   */
  runTree(jobs: Iterable<Handle>): string | undefined {
    const long = new Set(Array.from(this.#long.values(), ({ runTree }) => runTree))
    const all = new Set(Array.from(jobs, ({ runTree }) => runTree))
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

import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, join, relative, resolve } from 'node:path'
import { failed } from '../failure.ts'

/** The kinds of projects that are published, in the order in which later ones need earlier ones. */
export const publishedKinds = ['interfaces', 'integrations', 'plugins'] as const
export type PublishedKind = (typeof publishedKinds)[number]

/** A project of the public command line. */
export interface Project<Kind extends string = PublishedKind> {
  kind: Kind
  /** The path of its folder within the source. */
  name: string
  folder: string
}

const definitions: Record<PublishedKind, string> = {
  interfaces: 'interface.definition.ts',
  integrations: 'integration.definition.ts',
  plugins: 'plugin.definition.ts',
}

/** Folders of a source that hold no projects of its author. */
const isSkipped = /^(?:\.|node_modules$|bp_modules$|dist$)/
const maxDepth = 4
const maxProjects = 500

/**
 * Finds the projects in a folder: the folder itself, or those below it. Links are not followed.
 *
 * @returns interfaces first, then integrations, then plugins
 * @throws Failure when there are too many
 */
export async function findProjects(source: string): Promise<Project[]> {
  const root = resolve(source)
  const found: Project[] = []
  async function look(folder: string, depth: number): Promise<void> {
    const kind = publishedKinds.find((each) => existsSync(join(folder, definitions[each])))
    if (kind) {
      if (found.length >= maxProjects)
        throw failed(`The folder has more than ${maxProjects} projects: name a part of it`)
      found.push({ kind, name: relative(root, folder) || basename(root), folder })
      return
    }
    if (depth === maxDepth) return
    const entries = await readdir(folder, { withFileTypes: true })
    for (const { name } of entries.filter((entry) => entry.isDirectory() && !isSkipped.test(entry.name))) {
      await look(join(folder, name), depth + 1)
    }
  }
  await look(root, 0)
  return publishedKinds.flatMap((kind) =>
    found.filter((project) => project.kind === kind).toSorted((one, other) => one.name.localeCompare(other.name)),
  )
}

import { rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { bundleOnce } from '../../../cli/dry-run/find-code.ts'
import { openDryRun, type DryRun } from '../../../cli/dry-run/dry-run.ts'
import { writeProjects } from '../../../cli/import/v12/import.ts'
import type { ImportedProject } from '../../../cli/import/v12/project.ts'
import { openProject } from '../../../cli/project/project.ts'

const packages = join(import.meta.dirname, '..', '..', '..', 'node_modules')

/**
 * Opens an imported project in an isolate, for conversations. Packages that its scripts require come from this repository.
 *
 * @param folder that does not exist yet, and is removed at the end of the function
 */
export async function openImported(
  project: ImportedProject,
  folder: string,
  secrets: Record<string, string> = {},
): Promise<DryRun> {
  await writeProjects([project], folder)
  try {
    await symlink(packages, join(folder, 'node_modules'))
    return await openDryRun(await bundleOnce(await openProject(folder)), secrets)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

import { isPackaged } from '#shared/process/is-packaged.ts'
import { failed } from './failure.ts'
import { readVersion } from './version.ts'

/**
 * Loads a module that the package of the command line alone does not have.
 *
 * @param command what the module is needed for, as users type it: `start`
 * @throws Failure that names the package with the platform
 */
export async function loadPlatformOnly<Module>(command: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load()
  } catch (cause) {
    if (!isPackaged || (cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw failed(
      `\`isobot ${command}\` needs the platform, and this package (@isobot/cli) is the command line alone: ` +
        `run \`npx isobot@${readVersion()} ${command}\`, or install the package isobot`,
      { cause },
    )
  }
}

import { access, constants, mkdir } from 'node:fs/promises'
import { failed } from '../failure.ts'

/**
 * Makes the data folder unless it is there.
 *
 * @throws Failure with a remedy, when it cannot be made or written
 */
export async function openDataFolder(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true })
    await access(directory, constants.W_OK)
  } catch (cause) {
    const { message } = cause as Error
    const remedy =
      'make it writable, or choose another one, for instance with --data .isobot or ISOBOT_DATA_DIR=.isobot'
    throw failed(`The data folder ${directory} cannot be used (${message}): ${remedy}`, { cause })
  }
}

import { measureBp } from './cli/bp.ts'
import { measureCatalogue } from './catalogue/catalogue.ts'
import { measureV12 } from './v12.ts'

/**
 * Measures how much of what other platforms have works here: bots of v12, the commands of the public command line, or the
 * public catalogue of integrations, plugins and bots.
 * `--write` also writes the figures into the documentation.
 */
const subjects: Record<string, { measure(source: string, writes: boolean): Promise<void>; source: string }> = {
  v12: { measure: measureV12, source: 'folder with exports' },
  bp: { measure: measureBp, source: 'checkout of the public repository' },
  catalogue: { measure: measureCatalogue, source: 'checkout of the public repository' },
}

const [subject = '', option, source, ...others] = process.argv.slice(2)
const chosen = Object.hasOwn(subjects, subject) ? subjects[subject] : undefined
const isUnderstood = option === '--source' && (others.length === 0 || others[0] === '--write')
if (!chosen || source === undefined || !isUnderstood) {
  for (const [name, { source: folder }] of Object.entries(subjects)) {
    console.error(`npm run compatibility -- ${name} --source <${folder}> [--write]`)
  }
  process.exitCode = 2
} else await chosen.measure(source, others[0] === '--write')

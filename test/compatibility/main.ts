import { measureV12 } from './v12.ts'

/** Measures how much of bots of other platforms an import carries: `npm run compatibility -- v12 --source <folder>`. */
const [subject, option, source, ...others] = process.argv.slice(2)
if (
  subject !== 'v12' ||
  option !== '--source' ||
  source === undefined ||
  (others.length > 0 && others[0] !== '--write')
) {
  console.error('npm run compatibility -- v12 --source <folder with exports> [--write]')
  process.exitCode = 2
} else await measureV12(source, others[0] === '--write')

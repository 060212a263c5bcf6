import type { Bot } from '../api/types.ts'

/** The reason why a version is read-only here: its code is a bundler's output. Undefined when it can be edited. */
export function madeElsewhere(version: Bot['version'], code: string): string | undefined {
  if (version?.kind === 'sdk')
    return 'This is a bundle of the public SDK: change its project, and deploy it from there.'
  if (!code.includes('\n//# sourceMappingURL=')) return undefined
  return 'This is a bundle: change its source files, and deploy them with “isobot deploy”.'
}

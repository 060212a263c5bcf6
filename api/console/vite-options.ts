import { join } from 'node:path'
import type { InlineConfig } from 'vite'
import { root } from './output.ts'

/** Options shared by the build of the pages and their development server. */
export const viteOptions = {
  root: join(root, 'console'),
  base: '/console/',
  configFile: false,
  envDir: false,
  publicDir: false,
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  worker: { format: 'es' },
} satisfies InlineConfig

import { join } from 'node:path'
import { openCodeBundler, type BundledCode } from './bundle-code.ts'
import type { Problem } from './code-frame.ts'
import { readFlows, type ProjectFlows } from './flow-files.ts'
import {
  isOwnIntegration,
  openIntegrationBundler,
  type BundledIntegration,
  type IntegrationBundler,
} from './own-integration.ts'
import { isFile, type Project } from './project.ts'

/** An upload: one module, the flows beside it, and the integrations that belong to the project. */
export interface Bundle extends BundledCode, Partial<ProjectFlows> {
  /** By their paths in isobot.json. */
  integrations?: Record<string, BundledIntegration>
  /** The flows may be those that the code itself exports: a deployed version does not tell them apart. */
  hasFlowsOfCode?: true
}

export type Bundled = { bundle: Bundle } | { problems: Problem[] }

/** Bundles a project repeatedly. After the first time it reads only changed files. */
export interface Bundler extends AsyncDisposable {
  /** @returns the bundle, or the problems of the source */
  bundle(): Promise<Bundled>
}

export async function openBundler(project: Project): Promise<Bundler> {
  const { folder, entry, settings } = project
  const parts = new AsyncDisposableStack()
  const code = parts.use(await openCodeBundler(folder, entry, settings.packages))
  const integrations = new Map<string, IntegrationBundler>()
  for (const { integration: path } of Object.values(settings.integrations ?? {})) {
    if (isOwnIntegration(path)) integrations.set(path, parts.use(await openIntegrationBundler(project, path)))
  }
  return {
    async bundle() {
      const beside = await readFlows(folder)
      if ('problems' in beside) return beside
      const isFlowsAlone =
        beside.flows.length > 0 && settings.entry === undefined && !(await isFile(join(folder, entry)))
      const bundled = isFlowsAlone ? noCode : await code.bundle()
      if ('problems' in bundled) return bundled
      const own: Record<string, BundledIntegration> = {}
      for (const [path, bundler] of integrations) {
        const integration = await bundler.bundle()
        if ('problems' in integration) return integration
        own[path] = integration
      }
      return { bundle: { ...bundled, ...beside, ...(integrations.size > 0 && { integrations: own }) } }
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  }
}

/** The code of a project that consists of flows. */
const noCode = { code: '', sourceMap: '' }

import type { AnswerOf } from '../../../shared/openapi/answer-of.ts'
import { allPages } from '../api/all-pages.ts'
import { ask } from '../api/ask.ts'

type Own = AnswerOf<'getIntegration'>['integration']

/** A version of an integration in full, one of the workspace or a public one. */
export interface Definition extends Pick<Own, 'id' | 'name' | 'version' | 'title'> {
  configuration: Own['configuration']
  configurations: Own['configurations']
  permissions: Own['permissions']
  /** Whether it is one of the workspace, which grants hosts to it. */
  isOwn: boolean
}

/** A version of an integration in a list. */
export interface Available {
  id: string
  name: string
  version: string
  title: string
  description: string
  owner: string
}

/** A version of an integration, with the name that all versions share. */
export type VersionKey = Pick<Definition, 'id' | 'name'>

/** @throws Failure when neither the workspace nor the hub has it */
export async function loadDefinition({ id, name }: VersionKey, abort?: AbortSignal): Promise<Definition> {
  const request = abort ? { abort } : {}
  const own = await allPages(async (nextToken) => {
    const query = { name, ...(nextToken !== undefined && { nextToken }) }
    const { integrations, meta } = await ask<'listIntegrations'>('GET', '/integrations', { query, ...request })
    return { items: integrations, nextToken: meta.nextToken }
  })
  if (own.some((version) => version.id === id)) {
    const { integration } = await ask<'getIntegration'>('GET', `/integrations/${id}`, request)
    return { ...integration, isOwn: true }
  }
  const { integration } = await ask<'getPublicIntegrationById'>('GET', `/hub/integrations/${id}`, request)
  return { ...integration, isOwn: false }
}

interface Filter {
  name?: string
  search?: string
}

const pageSize = 100

/**
 * Versions of integrations, those of the workspace before public ones, the newest first. Own public ones are in both
 * lists, and returned once.
 *
 * @returns also whether there are more than a page of either
 */
export async function listAvailable(
  filter: Filter,
  abort?: AbortSignal,
): Promise<{ versions: Available[]; hasMore: boolean }> {
  const request = { query: { pageSize, ...filter }, ...(abort && { abort }) }
  const [own, hub] = await Promise.all([
    ask<'listIntegrations'>('GET', '/integrations', request),
    ask<'listPublicIntegrations'>('GET', '/hub/integrations', request),
  ])
  const ownIds = new Set(own.integrations.map(({ id }) => id))
  const others = hub.integrations.filter(({ id }) => !ownIds.has(id))
  return {
    versions: [
      ...own.integrations.map((one) => ({ ...one, owner: 'this workspace' })),
      ...others.map((one) => ({ ...one, owner: one.ownerWorkspace.name })),
    ],
    hasMore: own.meta.nextToken !== undefined || hub.meta.nextToken !== undefined,
  }
}

import { allPages } from '../api/all-pages.ts'
import { ask } from '../api/ask.ts'
import type { Member } from '../api/types.ts'
import { useResource, type Resource } from '../state/resource.ts'

/** All members of the workspace. */
export function useMembers(): Resource<Member[]> {
  return useResource('members', (abort) =>
    allPages(async (nextToken) => {
      const query = { pageSize: 100, nextToken }
      const page = await ask<'listWorkspaceMembers'>('GET', '/workspace-members', { query, abort })
      return { items: page.members, nextToken: page.meta.nextToken }
    }),
  )
}

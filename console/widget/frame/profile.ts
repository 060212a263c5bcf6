import type { Signal } from '@preact/signals'
import type { GivenUser } from '../protocol.ts'
import type { Ask } from './api.ts'
import type { User } from './types.ts'
import type { Visitor } from './visitor.ts'

/** The page's description of its visitor, which the platform gets once for each visitor. */
export interface Profile {
  /** Sends the description unless it is sent. A failure is passed to `onError`; the next connection repeats it. */
  describe(): Promise<void>
  /** Sends changed fields. @returns the visitor as it is then */
  update(changed: GivenUser): Promise<User | undefined>
  /** Adds fields to the description. */
  add(changed: GivenUser): void
  /** Forgets that the description is sent: the platform has another visitor. */
  restart(): void
  /** Forgets the description. */
  clear(): void
}

/** @param user the visitor as the platform knows it */
export function openProfile(
  given: GivenUser,
  visitor: Visitor,
  user: Signal<User | undefined>,
  ask: Ask,
  onUpdate: (user: User) => void,
  onError: (error: unknown) => void,
): Profile {
  let description = given
  let isDescribed = false

  async function update({ name, pictureUrl, data }: GivenUser): Promise<User | undefined> {
    const fields = { ...(name && { name }), ...(pictureUrl && { pictureUrl }), ...(data && { userData: data }) }
    if (Object.keys(fields).length === 0) return user.value
    const { user: updated } = await ask<{ user: User }>('PUT', 'users/me', fields)
    // The answer about a former visitor may come late.
    if (updated.id !== user.value?.id) return user.value
    user.value = updated
    onUpdate(updated)
    return updated
  }

  return {
    update,
    async describe() {
      if (isDescribed) return
      const described = visitor.id()
      try {
        await update(description)
        if (described === visitor.id()) isDescribed = true
      } catch (error) {
        onError(error)
      }
    },
    add: (changed) => (description = { ...description, ...changed }),
    restart: () => (isDescribed = false),
    clear() {
      description = {}
      isDescribed = false
    },
  }
}

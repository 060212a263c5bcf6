import { computed, signal } from '@preact/signals'
import type { Member, Workspace } from '../api/types.ts'

/** The signed-in account and its workspace. */
export interface Session {
  /** Absent when the browser has a cookie, for which `api/ask.ts` gets tokens. */
  token?: string
  workspaceId: string
}

const storedAs = 'isobot.session'

export const session = signal<Session | undefined>(readStored())
/** The reason of an automatic sign-out, shown on the sign-in page. */
export const signedOutBecause = signal('')
/** Why the session has ended while one of its pages is open, which stays until the same person signs in again. */
export const interruptedBecause = signal('')
export const workspaces = signal<Workspace[]>([])
/** The account's own membership of the workspace; undefined until it is loaded. */
export const membership = signal<Member | undefined>(undefined)

/** Whether the attempt to load the membership has ended. Until then the account's sections are not known. */
export const isMembershipSettled = signal(false)

const roles = ['agent', 'viewer', 'developer', 'administrator', 'owner']

/** Whether the account has a developer's permissions. An unknown role counts as yes: the server decides. */
export const mayChange = computed(() => hasRole('developer'))

/** Whether the account's role includes another one; see `shared/models/member.ts`. */
export function hasRole(needed: string): boolean {
  if (!membership.value) return true
  const { role } = membership.value
  return needed === 'agent' ? role !== 'viewer' : roles.indexOf(role) >= roles.indexOf(needed)
}

/** The section that the console opens with, as soon as the membership is settled: agents may not read bots. */
export function firstSection(): string {
  return hasRole('viewer') ? 'bots' : 'inbox'
}

/** Called before the account is signed out, or chooses another workspace. */
export const beforeSessionChange = new Set<() => void>()

/** @param stays whether the session outlives the tab */
export function signIn(next: Session, stays: boolean): void {
  signedOutBecause.value = ''
  const store = stays ? localStorage : sessionStorage
  store.setItem(storedAs, JSON.stringify(next))
  session.value = next
}

/** The end of the session from without. The open page stays with what was typed in it, below a dialog that signs in again. */
export function interrupt(reason: string): void {
  // Of a page that does not know its person, nothing has been typed.
  if (membership.value) interruptedBecause.value = reason
  else signOut(reason)
}

/** Goes on with the open page, whose person has signed in again. */
export function resume(token: string | undefined): void {
  if (!session.value) return
  interruptedBecause.value = ''
  signIn({ ...(token !== undefined && { token }), workspaceId: session.value.workspaceId }, staysSignedIn())
}

export function signOut(reason = ''): void {
  for (const end of beforeSessionChange) end()
  // The session storage also has the keys of this tab's chats.
  sessionStorage.clear()
  localStorage.removeItem(storedAs)
  signedOutBecause.value = reason
  interruptedBecause.value = ''
  membership.value = undefined
  isMembershipSettled.value = false
  workspaces.value = []
  session.value = undefined
}

export function chooseWorkspace(workspaceId: string): void {
  if (!session.value) return
  for (const end of beforeSessionChange) end()
  membership.value = undefined
  isMembershipSettled.value = false
  signIn({ ...session.value, workspaceId }, staysSignedIn())
}

/** Whether the session outlives the tab. */
export function staysSignedIn(): boolean {
  return localStorage.getItem(storedAs) !== null
}

function readStored(): Session | undefined {
  const text = sessionStorage.getItem(storedAs) ?? localStorage.getItem(storedAs)
  return text === null ? undefined : (JSON.parse(text) as Session)
}

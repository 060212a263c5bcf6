import { useEffect, useRef, useState } from 'preact/hooks'
import type { AnswerOf } from '../../../shared/openapi/answer-of.ts'
import { ask, reach } from '../api/ask.ts'
import { beforeSessionChange, membership } from '../state/session.ts'
import { useOnInboxLine } from './follow.ts'

export type OwnPresence = AnswerOf<'updatePresence'>['presence']['status']

export const heartbeatMilliseconds = 30_000

interface Heartbeat {
  /** The status that colleagues see; undefined until the first answer. */
  status: OwnPresence | undefined
  /** @throws Failure */
  setAway: (away: boolean) => Promise<void>
}

/** Shows colleagues and bots that the member’s inbox is open, until it is closed: by leaving the page or the session. */
export function useHeartbeat(): Heartbeat {
  const [status, setStatus] = useState<OwnPresence>()
  const isOpen = useRef(false)
  const beat = async (body: { away?: boolean } = {}) => {
    const { presence } = await ask<'updatePresence'>('PUT', '/presence', { body })
    if (isOpen.current) setStatus(presence.status)
  }
  // After a failure the next one follows soon.
  const tryToBeat = () => {
    if (isOpen.current) void beat().catch(() => undefined)
  }
  useEffect(() => {
    const enter = () => {
      if (isOpen.current) return
      isOpen.current = true
      tryToBeat()
    }
    const leave = () => {
      if (!isOpen.current) return
      isOpen.current = false
      void reach('DELETE', '/presence', { keepalive: true }).catch(() => undefined)
    }
    enter()
    const timer = setInterval(tryToBeat, heartbeatMilliseconds)
    // The page may come back from the browser's cache of pages.
    addEventListener('pageshow', enter)
    addEventListener('pagehide', leave)
    beforeSessionChange.add(leave)
    return () => {
      leave()
      clearInterval(timer)
      removeEventListener('pageshow', enter)
      removeEventListener('pagehide', leave)
      beforeSessionChange.delete(leave)
    }
  }, [])
  // Another tab may have ended the presence, or changed it.
  useOnInboxLine(({ type, memberId }) => {
    if (type === 'ready' || (type === 'presence' && memberId === membership.value?.id)) tryToBeat()
  })
  return { status, setAway: (away) => beat({ away }) }
}

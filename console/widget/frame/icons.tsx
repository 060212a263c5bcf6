import type { JSX } from 'preact'

const paths = {
  attach: 'M20 11.5l-8 8a5 5 0 0 1-7-7l8.5-8.5a3.3 3.3 0 0 1 4.7 4.7l-8.5 8.5a1.6 1.6 0 0 1-2.3-2.3l7.6-7.6',
  back: 'M15 5l-7 7 7 7',
  close: 'M6 6l12 12M18 6 6 18',
  down: 'M12 5v14M6 13l6 6 6-6',
  list: 'M4 6h16M4 12h16M4 18h10',
  plus: 'M12 5v14M5 12h14',
  send: 'M4 12l16-8-6 16-3-6z',
  up: 'M7 11v9H4v-9zM7 11l4-8c2 0 2.5 1 2.2 3L12.6 9H18a2 2 0 0 1 2 2.4l-1.3 6.8A2.2 2.2 0 0 1 16.5 20H7',
} as const

export function Icon({ name, className = '' }: { name: keyof typeof paths; className?: string }): JSX.Element {
  return (
    <svg class={className} viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  )
}

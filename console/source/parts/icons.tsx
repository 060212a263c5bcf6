import type { JSX } from 'preact'

const paths = {
  bots: 'M8 1.8 13.4 5v6L8 14.2 2.6 11V5zM8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z',
  queue: 'M2.5 3.5h11M2.5 8h11M2.5 12.5h7',
  members:
    'M6 7.5A2.5 2.5 0 1 0 6 2.5a2.5 2.5 0 0 0 0 5zM1.8 13.5c.3-2.5 2-4 4.2-4s3.9 1.5 4.2 4M10.8 2.8a2.4 2.4 0 0 1 0 4.4M12.2 9.8c1.2.6 1.9 1.9 2 3.7',
  audit: 'M4 1.8h5.5L13 5.3v8.9H4zM9.3 2v3.5h3.5M6.2 8.2h4.6M6.2 11h4.6',
  key: 'M10.2 6.8a3 3 0 1 0-1.4 1.9l.9.9h1.5v1.5h1.5v1.4h1.6v-2zM5.8 5.6h.01',
  chat: 'M2 3h12v8.2H7.2L4 14v-2.8H2z',
  models: 'M2.5 13.5v-5M6.2 13.5v-9M9.8 13.5v-6M13.5 13.5v-11',
  plus: 'M8 3v10M3 8h10',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.7 10.7 14 14',
  close: 'M3.5 3.5l9 9M12.5 3.5l-9 9',
  play: 'M4.5 2.8v10.4L13 8z',
  pause: 'M5 3v10M11 3v10',
  replay: 'M3 8a5 5 0 1 0 1.6-3.7L3 5.8M3 2.5v3.3h3.3',
  back: 'M10 3 5 8l5 5',
  forward: 'M6 3l5 5-5 5',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  check: 'M3 8.5 6.5 12 13 4.5',
  alert: 'M8 2 14.5 13.5h-13zM8 6.5v3.2M8 11.6h.01',
  sun: 'M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM8 1.3v1.4M8 13.3v1.4M1.3 8h1.4M13.3 8h1.4M3.3 3.3l1 1M11.7 11.7l1 1M12.7 3.3l-1 1M4.3 11.7l-1 1',
  moon: 'M13.5 9.6A5.8 5.8 0 0 1 6.4 2.5a5.8 5.8 0 1 0 7.1 7.1z',
  system: 'M1.8 3h12.4v8H1.8zM5.5 13.8h5',
  menu: 'M2 4.5h12M2 8h12M2 11.5h12',
  out: 'M6.5 2.5h-4v11h4M10 5l3 3-3 3M13 8H6',
  book: 'M2.5 2.5h4A1.5 1.5 0 0 1 8 4v9.5a1.5 1.5 0 0 0-1.5-1.2h-4zM13.5 2.5h-4A1.5 1.5 0 0 0 8 4v9.5a1.5 1.5 0 0 1 1.5-1.2h4z',
  send: 'M2 8h11M9 4l4 4-4 4',
  attach: 'M12.8 7.3 8 12.1a3 3 0 0 1-4.2-4.2l5.3-5.3a2 2 0 0 1 2.8 2.8l-5.2 5.2a1 1 0 0 1-1.4-1.4l4.6-4.6',
  slash: 'M10.5 2.5l-5 11',
  note: 'M2.5 2.5h11v7.8l-3.2 3.2H2.5zM13.3 10h-3v3.2M5.2 5.8h5.6M5.2 8.6h3',
  keyboard: 'M1.5 4h13v8h-13zM4 6.6h.01M6.7 6.6h.01M9.3 6.6h.01M12 6.6h.01M5 9.4h6',
  bell: 'M3.5 11.5V7a4.5 4.5 0 0 1 9 0v4.5l1 .8h-11zM6.7 14h2.6',
  deploy: 'M8 13V3.5M4 7l4-4 4 4M3 14h10',
  trash: 'M2.5 4h11M6 4V2.3h4V4M4 4l.7 10h6.6L12 4',
  empty: 'M2 9.5 4 3h8l2 6.5V13H2zM2 9.5h3.5l1 1.6h3l1-1.6H14',
} as const

export type IconName = keyof typeof paths

/** A line icon. It is hidden from screen readers, because its parent has a text. */
export function Icon({ name }: { name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  )
}

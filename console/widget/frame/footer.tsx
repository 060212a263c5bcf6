import type { JSX } from 'preact'
import { Link, Markdown } from './markdown.tsx'
import { useView } from './view.ts'

const contacts = ['website', 'email', 'phone', 'termsOfService', 'privacyPolicy'] as const

/** The site's text and links below the field for messages. */
export function Footer(): JSX.Element | null {
  const appearance = useView().chat.appearance.value
  const { footer } = appearance
  const links = contacts.flatMap((name) => {
    const { title, link } = appearance[name] ?? {}
    return link === undefined ? [] : [{ link, title: title ?? link.replace(/^(https?:\/\/|mailto:|tel:)/, '') }]
  })
  if (footer === undefined && links.length === 0) return null
  return (
    <footer class="quiet" dir="auto">
      {footer !== undefined && <Markdown text={footer} />}
      {links.length > 0 && (
        <ul>
          {links.map(({ link, title }) => (
            <li key={title + link}>
              <Link href={link}>{title}</Link>
            </li>
          ))}
        </ul>
      )}
    </footer>
  )
}

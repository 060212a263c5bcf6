import { keepAccessible } from './accessibility.js'

const dark = matchMedia('(prefers-color-scheme: dark)')
const followTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', followTheme)
followTheme()

const response = await fetch('/openapi.json')
const api = await response.json()

// The page lists an operation under each of its tags; only the first one, its interface, is kept.
const interfaces = new Set()
for (const operation of Object.values(api.paths).flatMap((item) => Object.values(item))) {
  operation.tags = operation.tags.slice(0, 1)
  interfaces.add(operation.tags[0])
}
api.tags = api.tags.filter(({ name }) => interfaces.has(name))

/** Replaces parts of the renderer's page. */
const replacements = ({ React: { createElement } }) => ({
  wrapComponents: {
    // The keyboard cannot reach a link within the button that opens an operation.
    DeepLink: () => (props) => createElement('span', null, props.text),
    // The only server is the page's own, so there is no choice to offer.
    ServersContainer: () => () => null,
  },
})

globalThis.SwaggerUIBundle({
  domNode: document.querySelector('#api'),
  // Requests go to the page's own server: its content security policy allows no other.
  spec: { ...api, servers: [{ url: location.origin }] },
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  tryItOutEnabled: true,
  validatorUrl: null,
  plugins: [replacements],
})

keepAccessible(document.querySelector('#api'))

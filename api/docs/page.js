import { keepAccessible } from './accessibility.js'

const dark = matchMedia('(prefers-color-scheme: dark)')
const followTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', followTheme)
followTheme()

const response = await fetch('/openapi.json')
const api = await response.json()

// The page lists an operation under each of its tags: once is enough, under its interface.
const interfaces = new Set()
for (const operation of Object.values(api.paths).flatMap((item) => Object.values(item))) {
  operation.tags = operation.tags.slice(0, 1)
  interfaces.add(operation.tags[0])
}
api.tags = api.tags.filter(({ name }) => interfaces.has(name))

/** Replaces parts of the renderer's page. */
const replacements = ({ React: { createElement } }) => ({
  wrapComponents: {
    // A link within the button that opens an operation cannot be reached.
    DeepLink: () => (props) => createElement('span', null, props.text),
    // There is one server, the one that the page came from: nothing is to be chosen.
    ServersContainer: () => () => null,
  },
})

globalThis.SwaggerUIBundle({
  domNode: document.querySelector('#api'),
  // What is tried out goes where the page came from: the policy of the page allows no other address.
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

"""The style sheet of an exported page: the palette of the two standard themes, chosen by the reader's system."""

from __future__ import annotations

STYLE = """\
:root {
  --bg: #fbfaf6; --panel: #f5f4ee; --line: #d5d4ca; --faint: #66726b; --sub: #4c5952; --text: #1f2a25;
  --leaf: #2f6d1d; --memory: #6a45ab; --ghost: #0b6579; --warn: #855300; --bad: #ad2f26; --tint: #efe8f8;
  --mono: ui-monospace, "JetBrains Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --bg: #111513; --panel: #161b19; --line: #303a36; --faint: #7d8b84; --sub: #a6b3ac; --text: #dfe6e1;
    --leaf: #9ccb7a; --memory: #bda4e6; --ghost: #72c5d8; --warn: #e2b566; --bad: #ea8076; --tint: #241f30;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body {
  margin: 0; display: grid; grid-template-columns: minmax(14rem, 22rem) minmax(0, 1fr);
  background: var(--bg); color: var(--text); font: 15px/1.55 system-ui, sans-serif;
}
a { color: inherit; text-decoration: none; }
a:hover, a:focus-visible { text-decoration: underline; }
nav {
  position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1rem 3rem 1.5rem;
  border-right: 1px solid var(--line); font-size: 13px;
}
nav ul { list-style: none; margin: 0; padding: 0; border-left: 3px solid var(--leaf); }
nav ul + ul { margin-top: 1.5rem; }
nav li { padding: .12rem 0 .12rem .75rem; }
nav li a { display: inline-block; max-width: 100%; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; vertical-align: bottom; }
nav li ul { border-left: 1px solid var(--faint); margin-top: .2rem; }
nav .branch { color: var(--faint); }
nav .branch > details > summary { cursor: pointer; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
nav .memory { color: var(--memory); }
nav .bad { color: var(--bad); }
main { max-width: 60rem; width: 100%; padding: 2rem 2.5rem 4rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .75rem; overflow-wrap: anywhere; }
h2 { font-size: 1rem; font-weight: 600; color: var(--faint); margin: 2rem 0 1rem; }
.facts { margin: 0 0 2rem; color: var(--faint); font-size: 13px; }
.facts div { display: flex; gap: .75rem; }
.facts dt { flex: 0 0 4.5rem; }
.facts dd { margin: 0; overflow-wrap: anywhere; }
section.off { margin-left: calc(var(--lane) * 1rem); padding-left: 1.25rem; border-left: 1px solid var(--line); }
article { margin: 0 0 .75rem; padding-left: .9rem; border-left: 3px solid transparent; }
article:target { border-left-color: var(--ghost); }
article.you, article.note { margin-top: 2rem; }
article.you { border-left-color: var(--leaf); }
article.you .said { font-weight: 600; }
article.agent, article.tool, article.quiet { color: var(--sub); }
article.agent .said { color: var(--text); }
article.memory { margin-top: 2rem; background: var(--tint); border-left-color: var(--memory); padding: .75rem 1rem; border-radius: 0 4px 4px 0; }
article.bad { border-left-color: var(--bad); }
.who { margin: 0 0 .25rem; font-size: 12px; color: var(--faint); }
.who b { color: var(--sub); font-weight: 600; }
.who .id { float: right; font-family: var(--mono); }
.memory .who b { color: var(--memory); }
.chip { color: var(--warn); font-family: var(--mono); font-size: 12px; }
.said p { margin: 0 0 .6rem; white-space: pre-wrap; overflow-wrap: anywhere; }
pre {
  margin: .4rem 0 .8rem; padding: .7rem .9rem; background: var(--panel); border-radius: 4px; overflow-x: auto;
  font: 12.5px/1.5 var(--mono); white-space: pre-wrap; overflow-wrap: anywhere; max-height: 36rem; overflow-y: auto;
}
code { font-family: var(--mono); font-size: 12.5px; }
details > summary { cursor: pointer; color: var(--faint); font-size: 13px; }
.count { color: var(--faint); margin-left: .75rem; }
.failed, .failed > summary { color: var(--bad); }
.remark { color: var(--faint); font-size: 13px; margin: .25rem 0; }
img { max-width: 100%; height: auto; border-radius: 4px; }
footer { margin-top: 3rem; color: var(--faint); font-size: 13px; }
@media (max-width: 50rem) {
  body { display: block; }
  nav { position: static; height: auto; max-height: 40vh; border-right: 0; border-bottom: 1px solid var(--line); }
  main { padding: 1.5rem 1.25rem 3rem; }
}
@media print {
  body { display: block; }
  nav { display: none; }
  pre { max-height: none; }
}
"""

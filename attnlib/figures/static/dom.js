// Making elements and writing numbers. Text from data goes through append() or textContent, never innerHTML.

/** @returns {HTMLElement} */
export function html(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** @returns {SVGElement} */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(element, attributes, children) {
  set(element, attributes);
  element.append(...children);
  return element;
}

/** Set attributes; false and null take one away. What is there already is left alone: the browser would lay out anew. */
export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null) {
      if (element.hasAttribute(name)) element.removeAttribute(name);
    } else {
      const text = value === true ? "" : String(value);
      if (element.getAttribute(name) !== text) element.setAttribute(name, text);
    }
  }
}

/** Write text into an element, unless it stands there already; into the same node, which is cheaper than another. */
export function setText(element, text) {
  const node = element.firstChild;
  if (node?.nodeType !== Node.TEXT_NODE || node.nextSibling) element.textContent = text;
  else if (node.data !== text) node.data = text;
}

/** Where the pointer is in the units of a drawing, also on a slide or another page that scales what it shows. */
export function pointerIn(drawing, event) {
  return new DOMPoint(event.clientX, event.clientY).matrixTransform(drawing.getScreenCTM().inverse());
}

/** An id that no other widget of the page has, not even one that was loaded from another Blob. */
export function freshId(name) {
  return `${name}-${Math.random().toString(36).slice(2, 10)}`;
}

/** A number as people write it: fixed digits, a true minus sign, no "−0.00". */
export function fixed(x, digits = 2) {
  const text = x.toFixed(digits);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}

/** A point of the plane, "(1.20, −0.50)". */
export function pair(point) {
  return `(${fixed(point[0])},\u00a0${fixed(point[1])})`; // kept on one line
}

/** Text with formulas: "_x" becomes a subscript, and q and k get the colour of their role. */
export function formula(text) {
  return text.split(/(_\w|\b[qkc]\b)/).filter(Boolean).map((part) => {
    if (part[0] === "_") return html("sub", {}, part.slice(1));
    const role = { q: "query", k: "key", c: "context" }[part];
    return role ? html("var", { class: `attn-${role}` }, part) : part;
  });
}

/* What a page that was opened from the disk (file://) cannot do as on the web, since no script may read a file there.

   The download button would show a notebook as text. A script may be loaded, though: website/from_disk.py leaves one
   beside each source, which hands its text over, and from here the browser saves it. */
(() => {
  const fromDisk = location.protocol === "file:";

  const save = (text, name) => {
    const href = URL.createObjectURL(new Blob([text], { type: "application/octet-stream" }));
    Object.assign(document.createElement("a"), { href, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000); // by then the browser has read it
  };

  for (const link of document.querySelectorAll("a.btn-download-source-button")) {
    link.download = ""; // on the web: saved, whatever type the server gives a notebook
    if (!fromDisk) continue;
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const carrier = document.createElement("script");
      carrier.src = `${link.href}.js`;
      carrier.addEventListener("source", ({ detail }) => {
        save(detail, decodeURIComponent(link.pathname.split("/").at(-1)));
        carrier.remove();
      });
      carrier.onerror = () => location.assign(link.href); // a copy without the carrier: shown rather than nothing
      document.head.append(carrier);
    });
  }
})();

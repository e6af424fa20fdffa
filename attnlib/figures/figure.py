"""What every live figure is on the Python side: a widget with a picture for places where nothing can move."""

import base64
import html
import io
from pathlib import Path

import anywidget
import traitlets
from matplotlib.figure import Figure as Picture

from attnlib.figures.page import page, view
from attnlib.figures.questions import checked


def fixed(*names: str) -> traitlets.EventHandler:
    """A check to be kept in the class of a figure: these traits cannot change once the figure is made."""

    @traitlets.validate(*names)
    def check(self, proposal):
        name, value = proposal["trait"].name, proposal["value"]
        if self._made and value != getattr(self, name):
            raise ValueError(f"{name} is fixed when the figure is made: make another {type(self).__name__}")
        return value

    return check


class Figure(anywidget.AnyWidget):
    """A figure that can be touched, in a notebook and in the published page alike.

    A subclass names its files with `module` and `stylesheet`, keeps all that can change in synced traits, and draws
    `picture()`: what a reader of the PDF, of the notebook on GitHub, or of a page without scripts sees instead.

    Every figure may ask: `questions` is a list of dictionaries that `attnlib.figures.questions.checked` describes. The
    reader bets on an answer, then is told what is right and why, and the figure shows it.

    Raises:
        ValueError: a question is not as described, or shows a trait that the figure has not.
    """

    questions = traitlets.List().tag(sync=True)

    _made = False  # until all that it is made of has been set
    _ipython_display_ = None  # ipywidgets 7, which Colab has, would show it by this, without picture or word to Colab

    def __init__(self, **traits):
        super().__init__(**traits)
        self._made = True

    @traitlets.validate("questions")
    def _check_questions(self, proposal):
        own = set(self.trait_names(sync=True)) - set(anywidget.AnyWidget.class_trait_names(sync=True)) - {"questions"}
        return checked(proposal["value"], {name for name in own if not name.startswith("_")})

    def picture(self) -> Picture:
        """The figure in its present state, as a Matplotlib figure."""
        raise NotImplementedError(f"{type(self).__name__} must define picture()")

    def save(self, path: str | Path, title: str | None = None) -> Path:
        """Write the figure, as it is now, into one HTML file that is alive without Python, server or network.

        Args:
            path: the file, whose name ends with .html; what is there is replaced.
            title: the heading of the page; by default the name of the class.

        Returns:
            The path.

        Raises:
            ValueError: the name ends with something else.
            OSError: the file cannot be written.
        """
        path = Path(path)
        if path.suffix.lower() not in (".html", ".htm"):
            raise ValueError(
                f"a live figure is saved as a page, NAME.html, got {str(path)!r}; "
                "a still picture of it: figure.picture().savefig(...)"
            )
        png = f"data:image/png;base64,{self._picture_as_base64()}"
        shown = view(self.model_id, instead=f'<img alt="{html.escape(repr(self))}" src="{png}">')
        record = {"model_module": "anywidget", "state": self.state_without_kernel()}
        text = page({"state": {self.model_id: record}}, shown, title=title or type(self).__name__)
        path.write_text(text, encoding="utf-8")
        return path

    def state_without_kernel(self) -> dict:
        """All that the page needs where no Python answers; a figure that sends piece by piece must give it whole."""
        return self.get_state()

    def _picture_as_base64(self) -> str:
        file = io.BytesIO()
        # No date and no version inside: the same figure is the same bytes.
        self.picture().savefig(file, format="png", dpi=110, facecolor="white", metadata={"Software": None})
        return base64.b64encode(file.getvalue()).decode()

    def _repr_mimebundle_(self, **kwargs):
        data, metadata = super()._repr_mimebundle_(**kwargs)
        return {**data, "image/png": self._picture_as_base64()}, metadata

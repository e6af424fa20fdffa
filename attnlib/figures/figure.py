"""What every live figure is on the Python side: a widget with a picture for places where nothing can move."""

import base64
import io

import anywidget
import traitlets
from matplotlib.figure import Figure as Picture


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
    """

    _made = False  # until all that it is made of has been set
    _ipython_display_ = None  # ipywidgets 7, which Colab has, would show it by this, without picture or word to Colab

    def __init__(self, **traits):
        super().__init__(**traits)
        self._made = True

    def picture(self) -> Picture:
        """The figure in its present state, as a Matplotlib figure."""
        raise NotImplementedError(f"{type(self).__name__} must define picture()")

    def _repr_mimebundle_(self, **kwargs):
        data, metadata = super()._repr_mimebundle_(**kwargs)
        file = io.BytesIO()
        # No date and no version inside: the same figure is the same bytes.
        self.picture().savefig(file, format="png", dpi=110, facecolor="white", metadata={"Software": None})
        return {**data, "image/png": base64.b64encode(file.getvalue()).decode()}, metadata

from faro_site.rendering import content


def test_the_same_content_in_other_markup_is_equal() -> None:
    plain = "<p>one <code>two</code></p><pre><code>a  b\nc</code></pre>"
    rich = (
        "<nav>menu</nav><article><p>one\n<code>two</code><a class=headerlink href=#x>#</a></p>"
        "<div><pre><span></span><code><i>a</i>  b\n<i>c</i></code></pre><button>copy</button></div></article>"
    )
    assert content(plain) == content(rich, within="article")


def test_a_list_that_became_text_differs() -> None:
    assert content("<p>a</p><ul><li>b</li></ul>") != content("<p>a - b</p>")


def test_a_missing_word_and_a_missing_cell_differ() -> None:
    assert content("<p>one two</p>") != content("<p>one</p>")
    assert content("<tr><td>a</td><td></td></tr>") != content("<tr><td>a</td></tr>")
